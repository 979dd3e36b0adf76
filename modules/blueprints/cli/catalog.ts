/** Opens the catalog of shipped and own blueprints, and prints it for `hookwright catalog publish`. */
import { resolve } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, findName, UsageError } from '../../../cli/base/errors.ts';
import { command, text } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { readConfig } from '../../../cli/compile/compile-files.ts';
import { printNote } from '../../../cli/output/print.ts';
import type { Diagnostic, Finding } from '../../../compiler/diagnostics/diagnostic.ts';
import { sortDiagnostics } from '../../../compiler/diagnostics/diagnostic.ts';
import { printCatalog } from '../../../compiler/emit/emit-table.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { printPretty } from '../../../compiler/print/print-pretty.ts';
import { isTimeZone } from '../../../compiler/schedule/parse-schedule.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import type { BlueprintPlan } from '../../../schemas/generated/types.ts';
import { loadCatalogBlueprints } from '../compiler/load-blueprints.ts';
import { publish } from '../compiler/publish.ts';

/** `hookwright catalog publish`: prints the blueprints as the JSON array of §2.8. */
export const catalogPublishCommand = command({
  options: {
    out: text('file', 'Write to this file'),
    appScheme: text('scheme', 'URL scheme of the links; default: `app_scheme`'),
    config: configOption,
  },
  async run(context, given) {
    const { plans, appScheme } = await openCatalog(context, given);
    const catalog = publish(plans.values(), appScheme);
    const text = printCatalog(catalog);
    if (given.out === undefined) {
      context.stdout.write(text);
      return;
    }
    writeAtomic(resolve(context.cwd, given.out), text, 0o644);
    printNote(context, `wrote ${catalog.length} blueprints to ${given.out}`);
  },
});

const DEFAULT_SCHEME = 'hookwright';
const SCHEME = /^[a-z][a-z0-9+.-]*$/;

export interface CatalogOptions {
  /** `--config`. */
  readonly config?: readonly string[] | undefined;
  /** `--app-scheme`, which overrides the config. */
  readonly appScheme?: string | undefined;
}

export interface OpenCatalog {
  /** By key, sorted by key. */
  readonly plans: ReadonlyMap<string, BlueprintPlan>;
  readonly appScheme: string;
  /** Default time zone of jobs: `gateway.timezone`, or else the machine's. */
  readonly timezone: string;
}

/** Reads only these two settings; `compile` and `lint` check the rest of the config. */
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
  throw new CliError('the blueprints have errors; fix them first');
}

/** @throws CliError if a blueprint or the config cannot be read, after printing the reasons on stderr */
export async function openCatalog(context: CliContext, options: CatalogOptions = {}): Promise<OpenCatalog> {
  const { cwd, home } = context;
  const catalog = await context.catalog();
  const { plans, findings } = loadCatalogBlueprints({ files: nodeFiles, cwd, home, catalog });
  const settings = readSettings(context, options.config ?? []);
  const faults = [...findings.filter(({ rule }) => rule !== 'blueprint-unused-field'), ...settings.findings];
  if (faults.length > 0) refuse(context, faults);
  const appScheme = options.appScheme ?? settings.app_scheme ?? DEFAULT_SCHEME;
  if (!SCHEME.test(appScheme)) {
    throw new UsageError(`invalid URL scheme "${appScheme}"`, 'use lower-case letters, digits, `+`, `.` and `-`');
  }
  return { plans, appScheme, timezone: settings.timezone ?? context.timezone };
}

/** @param key a key or a prefix @throws CliError with the closest keys */
export const findBlueprint = ({ plans }: OpenCatalog, key: string): BlueprintPlan =>
  findName({ kind: 'blueprint', name: key, known: plans, listedBy: 'hookwright blueprint list' });
