/**
 * `hookwright/modules`: the modules of the program, for the option `modules` of `hookwright`.
 *
 *     import { guard, outputs } from 'hookwright/modules';
 */
import type { HookwrightModule } from './hookwright.ts';
import { MODULES } from './modules.ts';

function named(wanted: string): HookwrightModule {
  const found = MODULES.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`there is no module ${wanted}`);
  return found;
}

/** Tasks that recur, ready to be filled in: their catalog, and the jobs that are made from them. */
export const blueprints = named('blueprints');
/** Several gateways over one PostgreSQL: shared work, tables that travel through the database, moving a store. */
export const cluster = named('cluster');
/** GitHub and GitLab as targets: comments that are found again and replaced, tokens of apps, the own account, and the client `gh`. */
export const codehosts = named('codehosts');
/** Pages and an API for operators. */
export const console = named('console');
/** Configurations of other programs, converted. */
export const convert = named('convert');
/** What keeps agents from running away: what their runs have used, and the keys that are paused because they loop. */
export const guard = named('guard');
/** Mail as a target, over SMTP. */
export const mail = named('mail');
/** What an agent may change: outputs that its route allows one by one, that the gateway delivers, and that a person may have to approve. */
export const outputs = named('outputs');
/** What senders' payloads look like, and who may have written what in them. */
export const payloads = named('payloads');
/** A damaged, missing or foreign file of the store is recognised, damaged rows are set aside, and a copy is made and put back. */
export const rescue = named('rescue');
/** What an agent and a script can reach: files, hosts, secrets. */
export const sandbox = named('sandbox');
/** The first hour: init, the wizard, doctor, completion, the service unit. */
export const setup = named('setup');
/** What a mistake in a configuration means, as people know it from other tools, and its repair. */
export const tutor = named('tutor');
/** What a gateway does, in numbers and traces: metrics for Prometheus, figures of each minute, spans of OpenTelemetry. */
export const telemetry = named('telemetry');
/** Requests are kept, explained, tested and replayed, and a change is compared before it is served. */
export const workbench = named('workbench');
