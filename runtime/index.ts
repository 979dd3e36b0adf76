/** `hookwright/runtime`: turns a compiled table into a running service. */

export type { EnrollReport, StopResult } from '../schemas/built/operations/types.ts';
export { Redactor } from './deliver/redact/redact.ts';
export type { AgentRequest, RunAgent } from './dispatch/agent-runner.ts';
export { AgentError } from './dispatch/agent-runner.ts';
export type { RequestOrigin } from './intake/fetch-request.ts';
export type { ListenAddress } from './intake/server.ts';
export { ListenError } from './intake/server.ts';
export type { Clock, Timer } from './platform/clock.ts';
export type { LogFields, Logger } from './platform/log.ts';
export { createLogger } from './platform/logger.ts';
export type { ProcessRequest, ProcessResult, RunProcess } from './platform/process/run-process.ts';
export type { SecretResolver } from './platform/secrets/secrets.ts';
export { SecretError } from './platform/secrets/secrets.ts';
export type { CompileSubscriptions, ServiceLog, ServiceOptions } from './service/options.ts';
export type { FinishedDispatch, Service, ServiceEvents } from './service/service.ts';
export type { ServiceStatus } from './service/status.ts';
export type { Store } from './store/store.ts';
export { StoreRefused } from './store/store.ts';
export { TableError } from './table/load.ts';
