/** The options of a service as its parts take them, with the defaults. */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { Redactor } from '../deliver/redact/redact.ts';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import { WorkFolders } from '../dispatch/agents/work-folders.ts';
import type { CatalogSource } from '../intake/documents.ts';
import { catalogFile, catalogValue, Documents } from '../intake/documents.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { NO_METRICS } from '../metrics/metrics.ts';
import type { RuntimePart } from '../module.ts';
import type { Clock } from '../platform/clock.ts';
import { systemClock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/logger.ts';
import type { GatewayFiles } from '../platform/node-files.ts';
import { gatewayFiles } from '../platform/node-files.ts';
import { runProcess } from '../platform/process/run-process.ts';
import { secretPaths, secretReader, userHome } from '../platform/secrets/machine-secrets.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { SharedClock } from '../platform/shared-clock.ts';
import type { TableSource } from '../table/table-source.ts';
import { tableFile, tableValue } from '../table/table-source.ts';
import { Enrolments, storeCaptured } from '../verify/enrolment.ts';
import { checkOptions, functionsOf } from './check-options.ts';
import type { Confinement } from './confine.ts';
import { createConfinement } from './confine.ts';
import type { ServiceLog, ServiceOptions } from './options.ts';

type Filled = 'home' | 'env' | 'lowerSubscriptions' | 'version' | 'problem' | 'timezone' | 'log' | 'redactor' | 'run';

/** The options as the parts of a service take them. */
export interface ServiceContext extends Required<Pick<ServiceOptions, Filled>>, Pick<ServiceOptions, 'host' | 'port'> {
  readonly modules: readonly RuntimePart[];
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** The compiled table. */
  readonly source: TableSource;
  /** The documents that are served beside the routes. */
  readonly documents: Documents;
  /** Used instead of the table's agents of these names. */
  readonly functions: AgentFunctions;
  readonly clock: SharedClock;
  /** Called with the time of a shared database; does nothing when the program passes its own clock. */
  readonly follow: SharedClock['follow'];
  readonly files: GatewayFiles;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly workFolders: WorkFolders;
  readonly confinement: Confinement;
  /** Secrets that arrive in handshakes. */
  readonly enrolments: Pick<Enrolments, 'capture' | 'wait'>;
  /** Reads the current values of these references, without blocking. @param host the host on which the server listens */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
}

/** Fills in the defaults. @throws TypeError for an option of another kind, TableError when the table has another format */
export function resolveOptions(
  options: ServiceOptions,
  modules: readonly RuntimePart[],
  metrics: Metrics = NO_METRICS,
): ServiceContext {
  checkOptions(options);
  const { home, host, port, table, agent, projectEnv } = options;
  const { env = { ...process.env }, redactor = new Redactor(), random = randomBytes } = options;
  const clock = new SharedClock(options.clock ?? systemClock);
  const log = options.log ?? defaultLog(redactor);
  const folders = { home, userHome: userHome(env) };
  const run = options.run ?? ((request) => runProcess(request, { clock, home }));
  const sources = { env, home, projectEnv };
  /** Files of secrets, also of tables that were in service before. */
  const read = new Set<string>();
  const hidden = (): readonly string[] => [
    ...(options.hidden?.() ?? []),
    ...('file' in table ? [resolve(table.file)] : []),
    ...(projectEnv === undefined ? [] : [projectEnv]),
    ...read,
  ];
  const secrets = secretReader({
    sources,
    known: (values) => redactor.add(values),
    onRead: options.onSecretsRead ?? (() => {}),
    check: options.checkSecrets ?? ((resolver) => resolver),
  });
  return {
    ...{ modules, host, port, env, redactor, clock, log },
    ...folders,
    source: 'file' in table ? tableFile(table.file, gatewayFiles, clock) : tableValue(table),
    documents: new Documents(catalogOf(options, clock), log),
    functions: functionsOf(agent),
    lowerSubscriptions: options.lowerSubscriptions ?? (() => ({ routes: [], rejected: [] })),
    version: options.version ?? '',
    problem: options.problem ?? (() => null),
    timezone: options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    follow: options.clock === undefined ? clock.follow : () => {},
    run,
    confinement: createConfinement(modules, { ...folders, run, hidden, log, sweep: true }),
    files: gatewayFiles,
    ids: createIds(random),
    metrics,
    workFolders: new WorkFolders(log),
    enrolments: new Enrolments({ clock, store: (plan, secret) => storeCaptured(folders, plan, secret) }),
    secrets(refs, at) {
      for (const path of secretPaths(refs, sources)) read.add(path);
      return secrets(refs, at);
    },
  };
}

function catalogOf({ table, blueprints }: ServiceOptions, clock: Clock): CatalogSource {
  if (blueprints !== undefined) return catalogValue(blueprints);
  if (!('file' in table)) return catalogValue([]);
  return catalogFile(join(dirname(table.file), 'blueprints.json'), gatewayFiles, clock);
}

function defaultLog({ redact }: Redactor): ServiceLog {
  return createLogger({
    ...{ stream: process.stderr, level: 'warn', pretty: false, colour: false, clock: systemClock, redact },
  });
}
