/** The service of this process, configured by the command line and the environment. */
import { dirname, join, resolve } from 'node:path';
import { isLoopback } from '../../base/listen-address.ts';
import { invalidVariables, readOverrides } from '../../compiler/config/overrides.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { loadEnvFile, loadProjectEnv, mergeEnv } from '../../compiler/source/load-env.ts';
import { MAKE_A_SECRET, refusedValue } from '../../compiler/text/placeholder-in.ts';
import { isSecretName } from '../../compiler/text/secret-names.ts';
import type { Redactor } from '../../runtime/deliver/redact/redact.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { Lazy } from '../../runtime/platform/lazy.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import type { SecretResolver } from '../../runtime/platform/secrets/secrets.ts';
import { printSecretRef, SecretError } from '../../runtime/platform/secrets/secrets.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import { createService } from '../../runtime/service/service.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { runtimeParts } from '../base/module.ts';
import { packageVersion } from '../base/package.ts';

export interface OpenServiceOptions {
  /** Folder of the compiled tables. */
  readonly folder: string;
  /** Flags win over the environment, and that over the table. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly log: ProcessLogger;
  /** The one that `log` goes through. */
  readonly redactor: Redactor;
  /** Why the newest configuration is not in service. */
  readonly problem: () => string | null;
  /** The configuration's files, absolute. */
  readonly hidden: () => readonly string[];
}

export interface OpenedService {
  readonly service: OperatedService;
  /** Absolute path of routes.json. */
  readonly tableFile: string;
  /** Whether webhooks are switched on, by table or environment. */
  readonly enabled: boolean;
}

/** What a program writes into the folder of the tables would be served. One that has the configuration too is not hidden as a whole. */
function withTables(files: readonly string[], folder: string, cwd: string): readonly string[] {
  const built = resolve(folder);
  return [cwd, ...files.map((file) => dirname(file))].includes(built) ? files : [...files, built];
}

/** Rejects like `createService`, and with CliError for an invalid environment. */
export async function openService(context: CliContext, options: OpenServiceOptions): Promise<OpenedService> {
  const { home, env, clock, timezone, random } = context;
  const { folder, log, redactor, problem, hidden } = options;
  const overrides = overridesOf(context, options);
  const tableFile = join(folder, 'routes.json');
  const lowerer = new Lazy(async () => (await import('./lower-subscriptions.ts')).subscriptionLowerer(context));
  const { host, port } = overrides;
  const service = await createService(
    {
      ...{ home, env, log, timezone, random },
      // Without one of its own a service goes by the clock of the database that it shares.
      clock: clock === systemClock ? undefined : clock,
      table: { file: tableFile },
      host: host ?? undefined,
      port: port ?? undefined,
    },
    runtimeParts(context.modules),
    {
      ...{ redactor, problem },
      hidden: () => withTables(hidden(), folder, context.cwd),
      projectEnv: context.projectEnv,
      version: packageVersion(),
      lowerSubscriptions: async (...asked) => (await lowerer.use())(...asked),
      checkSecrets: (secrets, at) => refusePlaceholders(secrets, host ?? at),
      onSecretsRead: context.forgetVariables,
    },
  );
  return { service, tableFile, enabled: overrides.enabled ?? service.table.server.enabled };
}

function overridesOf(
  { home, cwd, env, projectEnv }: CliContext,
  { host, port }: OpenServiceOptions,
): ReturnType<typeof readOverrides> {
  const project = loadProjectEnv(nodeFiles, projectEnv, cwd).values;
  const variables = mergeEnv(env, loadEnvFile(nodeFiles, home, cwd).values, project);
  const [first, ...others] = invalidVariables((name) => variables.get(name));
  if (first !== undefined) throw new CliError(first, ...others);
  return readOverrides(variables, { host, port });
}

/**
 * The rule `secret-placeholder`, for what the compiler did not see: files, variables of this machine, tables by hand.
 * @param host what the server listens on
 */
function refusePlaceholders(secrets: SecretResolver, host: string): SecretResolver {
  return {
    resolve(ref, setting) {
      const value = secrets.resolve(ref, setting);
      if (setting !== undefined && !isSecretName(setting)) return value;
      // A literal from an example is refused anywhere.
      const reason = refusedValue(value, isLoopback(host) && ref.kind !== 'literal', setting === undefined);
      if (reason === null) return value;
      throw new SecretError(`the value of ${printSecretRef(ref)} ${reason}; ${MAKE_A_SECRET}`);
    },
  };
}
