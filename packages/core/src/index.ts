/**
 * The MCP task lifecycle as a pure state machine, its wire schemas, and request admission. No services, no clock, no
 * IO: everything here is data and total functions over it.
 *
 * @since 0.1.0
 */
export * as CanonicalJson from "./CanonicalJson.ts"
export * as InputWire from "./InputWire.ts"
export * as JsonRpc from "./JsonRpc.ts"
export * as McpHeader from "./McpHeader.ts"
export * as McpProtocol from "./McpProtocol.ts"
export * as McpRequest from "./McpRequest.ts"
export * as Task from "./Task.ts"
export * as TaskCommand from "./TaskCommand.ts"
export * as TaskEvent from "./TaskEvent.ts"
export * as TaskJournal from "./TaskJournal.ts"
export * as TaskMachine from "./TaskMachine.ts"
export * as TaskObserver from "./TaskObserver.ts"
export * as TaskTransition from "./TaskTransition.ts"
export * as TaskView from "./TaskView.ts"
export * as TaskWire from "./TaskWire.ts"
export * as WireError from "./WireError.ts"
