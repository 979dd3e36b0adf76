/**
 * `hookwright/modules`: the modules of the program, for the option `modules` of `hookwright`.
 *
 *     import { guard, outputs } from 'hookwright/modules';
 */
import type { HookwrightModule } from './hookwright.ts';
import { MODULES } from './modules.ts';

function named(wanted: string): HookwrightModule {
  const found = MODULES.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`unknown module ${wanted}`);
  return found;
}

/** Known agent programs by name: their commands, answers, usage and conversations. */
export const agents = named('agents');
/** Blueprints: the catalog of ready-made recurring tasks, and the jobs created from them. */
export const blueprints = named('blueprints');
/** Several gateways that share work in one PostgreSQL database, and the commands to move a store there. */
export const cluster = named('cluster');
/** GitHub and GitLab as targets: comments that are kept up to date, app tokens, the posting account, and the client `gh`. */
export const codehosts = named('codehosts');
/** The console: pages and an API for operators. */
export const console = named('console');
/** Converts configurations of other programs. */
export const convert = named('convert');
/** The guard: usage, budgets, loop limits, alerts and the heartbeat. */
export const guard = named('guard');
/** Mail as a target, over SMTP. */
export const mail = named('mail');
/** Outputs of agents, approvals, and the status URL of events. */
export const outputs = named('outputs');
/** Knows the structure of senders' payloads, and the authors of the text in them. */
export const payloads = named('payloads');
/** Reports a damaged, missing or foreign store file, quarantines damaged rows, and backs up and restores the store. */
export const rescue = named('rescue');
/** Sandboxes that restrict the files, hosts and secrets of agents and scripts. */
export const sandbox = named('sandbox');
/** Getting started: init, the setup wizard, doctor, shell completion and the service unit. */
export const setup = named('setup');
/** Explains mistakes in configurations that come from other tools, and repairs them. */
export const tutor = named('tutor');
/** Metrics for Prometheus, traffic per minute for charts, and OpenTelemetry traces. */
export const telemetry = named('telemetry');
/** Captures, explains, tests and replays requests, and compares a new configuration before it is served. */
export const workbench = named('workbench');
