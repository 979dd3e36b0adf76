/** Defaults for the service options: clock, log, processes, secrets and catalog. */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { SecretRef } from '../schemas/generated/types.ts';
import { Redactor } from './deliver/redact.ts';
import { secretReader } from './gateway-secrets.ts';
import type { ServiceLog, ServiceOptions } from './gateway-service.ts';
import { catalogFile, catalogValue, SwappableCatalog } from './intake/catalog-source.ts';
import type { Clock } from './platform/clock.ts';
import { systemClock } from './platform/clock.ts';
import type { Ids } from './platform/ids.ts';
import { createIds } from './platform/ids.ts';
import { createLogger } from './platform/logger.ts';
import { gatewayFiles } from './platform/node-files.ts';
import type { RunProcess } from './platform/process/run-process.ts';
import { runProcess } from './platform/process/run-process.ts';
import { userHome } from './platform/secrets/machine-secrets.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import { SharedClock } from './platform/shared-clock.ts';
import type { TableSource } from './table/table-source.ts';
import { tableFile, tableValue } from './table/table-source.ts';

/** The dependencies that the parts of a service share. */
export interface ServiceContext {
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: SharedClock;
  /** Called with the time of a shared database; does nothing when the program passes its own clock. */
  readonly follow: SharedClock['follow'];
  readonly log: ServiceLog;
  readonly run: RunProcess;
  readonly ids: Ids;
  readonly redactor: Redactor;
  /** Reads the current values of these references. @param host the table's */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
}

/** The dependencies given in the options, with the system's as defaults. */
export function serviceContext(options: ServiceOptions): ServiceContext {
  const { home, env = { ...process.env }, random = randomBytes, projectEnv } = options;
  const clock = new SharedClock(options.clock ?? systemClock);
  const redactor = options.redactor ?? new Redactor();
  return {
    ...{ home, userHome: userHome(env), env, clock, redactor, ids: createIds(random) },
    follow: options.clock === undefined ? clock.follow : () => {},
    log: options.log ?? defaultLog(redactor),
    run: options.run ?? ((request) => runProcess(request, clock)),
    secrets: secretReader({
      ...{ sources: { env, home, projectEnv }, redactor },
      onRead: options.onSecretsRead ?? (() => {}),
      check: options.checkSecrets ?? ((secrets) => secrets),
    }),
  };
}

function defaultLog(redactor: Redactor): ServiceLog {
  return createLogger({
    ...{ stream: process.stderr, level: 'warn', pretty: false, colour: false, clock: systemClock },
    redact: redactor.redact,
  });
}

/** The source of the table: a watched file, or the table itself. */
export const tableSourceOf = ({ table }: ServiceOptions, clock: Clock): TableSource =>
  'file' in table ? tableFile(table.file, gatewayFiles, clock) : tableValue(table);

/** The blueprint catalog; by default the file beside the table. */
export function catalogOf({ table, blueprints }: ServiceOptions, clock: Clock): SwappableCatalog {
  if (blueprints !== undefined) return new SwappableCatalog(catalogValue(blueprints));
  if (!('file' in table)) return new SwappableCatalog(catalogValue([]));
  return new SwappableCatalog(catalogFile(join(dirname(table.file), 'blueprints.json'), gatewayFiles, clock));
}
