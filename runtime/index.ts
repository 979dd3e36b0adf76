/** `hookwright/runtime`: turns a compiled table into a running service. */

export type { StopResult } from '../schemas/built/operations/types.ts';
export type { ServiceStatus } from './console/status.ts';
export type { AgentRequest, RunAgent } from './dispatch/agent-runner.ts';
export { AgentError } from './dispatch/agent-runner.ts';
export type { EmitOptions, Emitted } from './intake/emit.ts';
export type { RequestOrigin } from './intake/fetch-request.ts';
export type { NodeListener } from './intake/node-request.ts';
export type { ListenAddress } from './intake/server.ts';
export { ListenError } from './intake/server.ts';
export type { Clock, Timer } from './platform/clock.ts';
export type { LogFields, Logger } from './platform/log.ts';
export { createLogger } from './platform/logger.ts';
export type { ProcessRequest, ProcessResult, RunProcess } from './platform/process/run-process.ts';
export type { FinishedDispatch, Service, ServiceEvents, ServiceLog, ServiceOptions } from './service/options.ts';
export { StoreRefused } from './store/contract.ts';
export { TableError } from './table/table-source.ts';
