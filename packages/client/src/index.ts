/**
 * An MCP client that calls long tools as if they were short ones.
 *
 * @since 0.1.0
 */
export * as HttpTransport from "./HttpTransport.ts"
export * as InputHandler from "./InputHandler.ts"
export * as StdioTransport from "./StdioTransport.ts"
export * as TaskClient from "./TaskClient.ts"
export * as TaskClientError from "./TaskClientError.ts"
export * as TaskHandle from "./TaskHandle.ts"
export * as TaskHandleStore from "./TaskHandleStore.ts"
export * as Transport from "./Transport.ts"
