/** Opens the blueprints of this home for a command: shipped ones, the user's own, and the settings they are shown with. */
import { join } from 'node:path';
import type { Diagnostic, Finding } from '../../compiler/diagnostics/diagnostic.ts';
import { sortDiagnostics } from '../../compiler/diagnostics/diagnostic.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { isTimeZone } from '../../compiler/schedule/time-zone.ts';
import { loadBlueprints } from '../../compiler/source/load-blueprints.ts';
import type { Named } from '../../compiler/text/common-name.ts';
import { commonName } from '../../compiler/text/common-name.ts';
import { isPlainMap } from '../../compiler/text/plain-map.ts';
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import { findName } from '../command-line/find-name.ts';
import { readConfig } from '../compile/read-config.ts';

const DEFAULT_SCHEME = 'hookwright';
const SCHEME = /^[a-z][a-z0-9+.-]*$/;

export interface CatalogOptions {
  /** `--config`. */
  readonly configs?: readonly string[] | undefined;
  /** `--app-scheme`; wins over the config. */
  readonly appScheme?: string | undefined;
}

export interface OpenCatalog {
  /** By key, in their order. */
  readonly plans: ReadonlyMap<string, BlueprintPlan>;
  /** Entries of the target catalog by canonical name. */
  readonly targets: Readonly<Record<string, Named>>;
  readonly appScheme: string;
  /** Zone of jobs that name none: `gateway.timezone`, else the machine's. */
  readonly timezone: string;
}

/** Only these two settings are read here; the rest of the config is checked by `compile` and `lint`. */
function readSettings(context: CliContext, configs: readonly string[]) {
  const { tree, findings } = readConfig(context, configs);
  const { app_scheme, gateway } = tree?.value ?? {};
  const timezone = isPlainMap(gateway) ? gateway.timezone : undefined;
  return {
    app_scheme: typeof app_scheme === 'string' ? app_scheme : null,
    timezone: typeof timezone === 'string' && isTimeZone(timezone) ? timezone : null,
    findings,
  };
}

function refuse(context: CliContext, findings: readonly Finding[]): never {
  const diagnostics = findings.map((finding): Diagnostic => ({ ...finding, severity: 'error' }));
  const width = context.stderr.columns ?? 100;
  context.stderr.write(printPretty(sortDiagnostics(diagnostics), { color: context.colour.stderr, width }));
  throw new CliError('the blueprints cannot be used before this is set right');
}

/** @throws CliError when a blueprint or the config cannot be read; the reasons are on stderr by then. */
export async function openCatalog(context: CliContext, options: CatalogOptions = {}): Promise<OpenCatalog> {
  const { blueprints: shipped, targets } = await context.catalog();
  const folders = [join(context.home, 'catalog/blueprints')];
  const { plans: own, findings } = loadBlueprints({ files: nodeFiles, cwd: context.cwd, folders });
  const settings = readSettings(context, options.configs ?? []);
  const faults = [...findings.filter(({ rule }) => rule !== 'blueprint-unused-field'), ...settings.findings];
  if (faults.length > 0) refuse(context, faults);
  const appScheme = options.appScheme ?? settings.app_scheme ?? DEFAULT_SCHEME;
  if (!SCHEME.test(appScheme)) {
    throw new UsageError(`"${appScheme}" is no URL scheme`, 'a scheme is lower-case letters, digits, `+`, `.` and `-`');
  }
  const plans = new Map(
    Object.entries({ ...shipped, ...Object.fromEntries(own) }).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { plans, targets, appScheme, timezone: settings.timezone ?? context.timezone };
}

/** As a person sees it. @param key or the beginning of one @throws CliError with the closest keys. */
export function findBlueprint({ plans, targets }: OpenCatalog, key: string): BlueprintPlan {
  const plan = findName({ kind: 'blueprint', name: key, known: plans, listedBy: 'hookwright blueprint list' });
  return withNamedTargets(plan, targets);
}

/** The usual name; a target that is not in the catalog keeps its own. */
export const knownName = (name: string, targets: Readonly<Record<string, Named>>): string =>
  Object.hasOwn(targets, name) ? commonName(name, targets[name] ?? {}) : name;

/** @param targets catalog entries by canonical name */
function withNamedTargets(plan: BlueprintPlan, targets: Readonly<Record<string, Named>>): BlueprintPlan {
  const fields = plan.fields.map((field) =>
    field.name === 'deliver' ? { ...field, options: field.options.map((name) => knownName(name, targets)) } : field,
  );
  return { ...plan, fields };
}
