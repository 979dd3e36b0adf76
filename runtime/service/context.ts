/** Checks the options of a service, for programs without types, and fills in the defaults. */
import { randomBytes } from 'node:crypto';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { Redactor } from '../deliver/redact.ts';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import { WorkFolders } from '../dispatch/agents/work-folders.ts';
import type { CatalogSource } from '../intake/documents.ts';
import { catalogFile, catalogValue, Documents } from '../intake/documents.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { NO_METRICS } from '../metrics/metrics.ts';
import type { RuntimePart } from '../module.ts';
import type { Clock } from '../platform/clock.ts';
import { SharedClock, systemClock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/files.ts';
import { gatewayFiles } from '../platform/files.ts';
import type { Ids } from '../platform/ids.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/logger.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import { runProcess } from '../platform/process/run-process.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { secretPaths, secretReader, userHome } from '../platform/secrets.ts';
import { createServedCopy } from '../table/served-copy.ts';
import type { TableSource } from '../table/table-source.ts';
import { tableFile, tableValue } from '../table/table-source.ts';
import { captureStore, Enrolments } from '../verify/handshake.ts';
import type { ProgramOptions, ServiceLog, ServiceOptions } from './options.ts';
import type { Confinement } from './parts.ts';
import { createConfinement } from './parts.ts';

/** The options with their defaults. */
export interface ServiceContext
  extends Pick<ServiceOptions, 'home' | 'host' | 'port'>,
    Required<Pick<ProgramOptions, 'lowerSubscriptions' | 'version' | 'problem' | 'redactor'>> {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if events are stored only in memory. */
  readonly inMemory: boolean;
  readonly timezone: string;
  readonly log: ServiceLog;
  readonly run: RunProcess;
  readonly modules: readonly RuntimePart[];
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** The compiled table. */
  readonly source: TableSource;
  /** Keeps a copy of the table with this hash, which is in service. */
  readonly keepServed: (hash: string) => Promise<void>;
  /** Documents served beside the routes. */
  readonly documents: Documents;
  /** Replace the table's agents of these names. */
  readonly functions: AgentFunctions;
  readonly clock: SharedClock;
  /** Called with the time of a shared database; does nothing if the program passes its own clock. */
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

/** Fills in the defaults. @throws TypeError for an invalid option, TableError if the table has another format */
export function resolveOptions(
  options: ServiceOptions,
  modules: readonly RuntimePart[],
  program: ProgramOptions = {},
  metrics: Metrics = NO_METRICS,
): ServiceContext {
  checkOptions(options);
  const { home, host, port, table, agent, env = { ...process.env }, random = randomBytes } = options;
  const { projectEnv, redactor = new Redactor(), lowerSubscriptions, version = '', problem = () => null } = program;
  const { firstTable, servedCopy, checkSecrets: check = (resolver: SecretResolver) => resolver } = program;
  const clock = new SharedClock(options.clock ?? systemClock);
  const log = options.log ?? defaultLog(redactor);
  const folders = { home, userHome: userHome(env) };
  const run = options.run ?? ((request) => runProcess(request, { clock, home }));
  const sources = { env, home, projectEnv };
  /** Files of secrets, including those of earlier tables. */
  const read = new Set<string>();
  const hidden = (): readonly string[] => [
    ...(program.hidden?.() ?? []),
    ...(servedCopy === undefined ? [] : [dirname(servedCopy)]),
    ...('file' in table ? [resolve(table.file)] : []),
    ...(projectEnv === undefined ? [] : [projectEnv]),
    ...read,
  ];
  const secrets = secretReader({
    sources,
    known: (values) => redactor.add(values),
    onRead: program.onSecretsRead ?? (() => {}),
    check,
  });
  return {
    modules,
    host,
    port,
    env,
    inMemory: options.store === ':memory:',
    redactor,
    clock,
    log,
    ...folders,
    source: 'file' in table ? tableFile(table.file, gatewayFiles, clock, firstTable) : tableValue(table),
    keepServed:
      'file' in table && servedCopy !== undefined ? createServedCopy(table.file, servedCopy, log) : async () => {},
    documents: new Documents(catalogOf(options, clock), log),
    functions: functionsOf(agent),
    lowerSubscriptions: lowerSubscriptions ?? (() => ({ routes: [], rejected: [] })),
    version,
    problem,
    timezone: options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    follow: options.clock === undefined ? clock.follow : () => {},
    run,
    confinement: createConfinement(modules, { ...folders, run, hidden, log, sweep: true }),
    files: gatewayFiles,
    ids: createIds(random),
    metrics,
    workFolders: new WorkFolders(log),
    enrolments: new Enrolments({
      clock,
      store: captureStore(folders, (ref, secret) => void check({ resolve: () => secret }, host ?? '').resolve(ref)),
    }),
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
  const written = { stream: process.stderr, level: 'warn', pretty: false, colour: false } as const;
  return createLogger({ ...written, clock: systemClock, redact });
}

type Check = (value: unknown) => boolean;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is object => isObject(value) && !Array.isArray(value);
const isText: Check = (value) => typeof value === 'string';
const isPath: Check = (value) => typeof value === 'string' && isAbsolute(value);
const isFunction: Check = (value) => typeof value === 'function';
const isPort: Check = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;
const has =
  (...methods: readonly string[]): Check =>
  (value) =>
    isObject(value) && methods.every((name) => isFunction((value as Readonly<Record<string, unknown>>)[name]));

function isZone(value: unknown): boolean {
  try {
    return isText(value) && Intl.DateTimeFormat('en', { timeZone: String(value) }) !== null;
  } catch {
    return false;
  }
}

const functionsOf = (agent: ServiceOptions['agent']): AgentFunctions =>
  agent === undefined ? {} : typeof agent === 'object' && agent !== null ? agent : { default: agent };

/** The check of each option, and its description. */
const OPTIONS: Readonly<Record<keyof ServiceOptions, readonly [check: Check, what: string]>> = {
  table: [
    (value) => isObject(value) && (!('file' in value) || isPath(value.file)),
    'a compiled table, or { file }, an absolute path',
  ],
  home: [isPath, 'an absolute path'],
  store: [(value) => value === ':memory:', '`:memory:`, or left out'],
  blueprints: [(value) => Array.isArray(value) && value.every(isObject), 'a catalog, as the compiler returns it'],
  env: [
    (value) => isRecord(value) && Object.values(value).every((each) => each === undefined || isText(each)),
    'an object of texts',
  ],
  agent: [
    (value) => !Array.isArray(value) && Object.values(functionsOf(value as ServiceOptions['agent'])).every(isFunction),
    'a function, or functions by name ({ default, … })',
  ],
  host: [isText, 'a text'],
  port: [isPort, 'an integer from 0 to 65535'],
  timezone: [isZone, 'an IANA zone, such as Europe/Vienna'],
  log: [has('debug', 'info', 'warn', 'error'), 'an object with debug, info, warn and error'],
  clock: [has('now', 'monotonic', 'after'), 'an object with now, monotonic and after'],
  run: [isFunction, 'a function'],
  random: [isFunction, 'a function'],
};

const REQUIRED: readonly string[] = ['table', 'home'] satisfies readonly (keyof ServiceOptions)[];

/** @throws TypeError that names the first invalid option and describes valid values, or names an unknown option */
function checkOptions(options: ServiceOptions): void {
  if (!isRecord(options)) throw new TypeError('createService: the options must be an object with table and home');
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) throw new TypeError(`createService: unknown option ${unknown}`);
  for (const [name, [check, what]] of Object.entries(OPTIONS)) {
    const value: unknown = options[name as keyof ServiceOptions];
    if (value === undefined ? REQUIRED.includes(name) : !check(value))
      throw new TypeError(`createService: ${name}: ${what}`);
  }
}
