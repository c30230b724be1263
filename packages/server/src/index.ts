/**
 * An MCP server that answers tool calls with durable tasks.
 *
 * @since 0.1.0
 */
export * as Authentication from "./Authentication.ts"
export * as Dispatcher from "./Dispatcher.ts"
export * as HealthRoutes from "./HealthRoutes.ts"
export * as HttpStartup from "./HttpStartup.ts"
export * as HttpTransport from "./HttpTransport.ts"
export * as InMemoryTransport from "./InMemoryTransport.ts"
export * as JwtVerifier from "./JwtVerifier.ts"
export * as RateLimits from "./RateLimits.ts"
export * as RequestState from "./RequestState.ts"
export * as ServerMetrics from "./ServerMetrics.ts"
export * as StdioTransport from "./StdioTransport.ts"
export * as TaskServer from "./TaskServer.ts"
export * as TokenVerifier from "./TokenVerifier.ts"
export * as ToolSwitch from "./ToolSwitch.ts"
