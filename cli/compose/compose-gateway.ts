/** The composition root: every part of a running gateway is made here and handed what it needs. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { compileSubscriptions } from '../../compiler/compile-subscriptions.ts';
import { readOverrides } from '../../compiler/lower/overrides.ts';
import { loadEnvFile, loadProjectEnv, mergeEnv } from '../../compiler/source/load-env.ts';
import type { Redactor } from '../../runtime/deliver/redact.ts';
import { secretNames } from '../../runtime/dispatch/agents/secret-names.ts';
import { createGateway } from '../../runtime/gateway.ts';
import type { Gateway } from '../../runtime/gateway-options.ts';
import { createIds } from '../../runtime/ids.ts';
import type { ProcessLogger } from '../../runtime/logger.ts';
import { LateMetrics } from '../../runtime/metrics/late-metrics.ts';
import { nodeFiles as gatewayFiles } from '../../runtime/node-files.ts';
import { runProcess } from '../../runtime/process/run-process.ts';
import type { SecretResolver } from '../../runtime/secrets.ts';
import { Enrolments } from '../../runtime/verify/enrolment.ts';
import type { RouteTable, SecretRef } from '../../schemas/generated/types.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { nodeFiles } from '../files/node-files.ts';
import { createMachineFacts } from './machine-facts.ts';
import { refusePlaceholders } from './refuse-placeholders.ts';
import { loadSecretsOf, resolvable, userHome } from './secrets.ts';
import { storeCaptured } from './store-captured.ts';
import { Work } from './work.ts';

export interface ComposeOptions {
  /** Folder of the compiled tables. */
  readonly folder: string;
  /** Flags win over the environment, and that over the table. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly log: ProcessLogger;
  readonly redactor: Redactor;
}

export interface ComposedGateway {
  readonly gateway: Gateway;
  readonly work: Work;
  readonly metrics: LateMetrics;
  readonly enrolments: Enrolments;
  /** Absolute path of routes.json. */
  readonly tableFile: string;
  /** Whether webhooks are switched on, by table or environment. */
  readonly enabled: (table: RouteTable) => boolean;
}

/** So many secrets are made known to the redactor in one turn of the event loop: a few ms. */
const SECRETS_A_TURN = 200;

/** Nothing is opened yet: `load` reads the table and opens the store, `listen` the port. */
export function composeGateway(context: CliContext, options: ComposeOptions): ComposedGateway {
  const { home, env, clock } = context;
  const { log, redactor } = options;
  const run = (request: Parameters<typeof runProcess>[0]): ReturnType<typeof runProcess> => runProcess(request, clock);
  const overrides = overridesOf(context, options);
  const secrets = async (refs: readonly SecretRef[], host: string): Promise<SecretResolver> => {
    const resolver = await loadSecretsOf(context, refs);
    for (let at = 0; at < refs.length; at += SECRETS_A_TURN) {
      redactor.add(resolvable(refs.slice(at, at + SECRETS_A_TURN), resolver));
      // A table may have ten thousand: requests come in between.
      await setImmediate();
    }
    context.forgetVariables(secretNames(refs));
    return refusePlaceholders(resolver, overrides.host ?? host);
  };
  const metrics = new LateMetrics();
  const ids = createIds(context.random);
  const { timezone } = context;
  const work = new Work({
    home,
    env,
    clock,
    log,
    run,
    secrets,
    redact: redactor.redact,
    ids,
    timezone,
    observer: metrics.observer,
  });
  const enrolments = new Enrolments({ clock, store: (plan, secret) => storeCaptured(context, plan, secret) });
  const tableFile = join(options.folder, 'routes.json');
  const gateway = createGateway({
    ...{ home, env, clock, log, run, secrets },
    ...(overrides.host === null ? {} : { host: overrides.host }),
    ...(overrides.port === null ? {} : { port: overrides.port }),
    userHome: userHome(env),
    table: tableFile,
    dispatcher: work.dispatcher,
    drain: (timeoutMs) => work.stop(timeoutMs),
    prepare: (table) => work.prepare(table),
    lowerSubscriptions: (text, table) => compileSubscriptions(text, table, createMachineFacts(context, work.jobs())),
    capture: (plan) => enrolments.capture(plan),
    files: gatewayFiles,
    ids,
    onRequest: metrics.onRequest,
    onTableLoad: metrics.onTableLoad,
  });
  return {
    gateway,
    work,
    metrics,
    enrolments,
    tableFile,
    enabled: (table) => overrides.enabled ?? table.server.enabled,
  };
}

function overridesOf(context: CliContext, { host, port }: ComposeOptions): ReturnType<typeof readOverrides> {
  const { home, cwd, env } = context;
  const project = loadProjectEnv(nodeFiles, context.projectEnv, cwd).values;
  const variables = mergeEnv(env, loadEnvFile(nodeFiles, home, cwd).values, project);
  const overrides = readOverrides(variables, { host, port });
  const [complaint, ...others] = overrides.complaints;
  if (complaint !== undefined) throw new CliError(complaint, ...others);
  return overrides;
}
