/** Facts for a fault report, without names, texts, addresses or secrets of the reporter. */
import { arch, platform, release } from 'node:os';
import { agentPlans } from '../../../../base/agent-plan.ts';
import type { Check } from '../../../../cli/base/check.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { packageVersion } from '../../../../cli/base/package.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import type { CompileResult } from '../../../../compiler/compile.ts';
import { maskUrls } from '../../../../compiler/diagnostics/printable.ts';
import type { ShippedCatalog } from '../../../../compiler/source/shipped-catalog.ts';
import { Redactor } from '../../../../runtime/deliver/redact/redact.ts';
import { createSecrets, resolvable } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { tableSecretRefs } from '../../../../runtime/platform/secrets/secret-refs.ts';
import type { LastError } from '../../../../runtime/store/queries.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

/** How often each value occurs. */
type Counts = Readonly<Record<string, number>>;

export type FaultReport = Awaited<ReturnType<typeof createDoctorReport>>;

export async function createDoctorReport(
  context: CliContext,
  { output, diagnostics }: CompileResult,
  checks: readonly Check[],
) {
  const table = output?.table ?? null;
  const overview = await lastErrorOf(context);
  return {
    version: packageVersion(),
    node: process.version,
    platform: `${platform()} ${release()} ${arch()}`,
    /** Null: it does not compile. */
    config: table === null ? null : shapeOf(table, await context.catalog()),
    /** By rule. */
    diagnostics: count(diagnostics.map(({ rule }) => rule)),
    checks: checks
      .filter(({ status }) => status === 'failed' || status === 'warning')
      .map(({ check, status }) => ({ check, status })),
    last_error: overview === null ? null : describe(overview, context, table),
  };
}

/** Names of the shipped catalog are not confidential; others are counted as `own`. */
function shapeOf(table: RouteTable, shipped: ShippedCatalog) {
  const routes = Object.values(table.routes);
  const profiles = Object.values(table.profiles);
  const named = (kind: 'sources' | 'targets', name: string): string =>
    Object.hasOwn(shipped[kind], name) ? name : 'own';
  return {
    routes: count(routes.map(({ mode }) => mode)),
    sources: count(routes.map(({ source }) => (source === null ? 'any' : named('sources', source)))),
    targets: count(routes.flatMap(({ deliver }) => deliver.map(({ target }) => named('targets', target)))),
    agents: count(profiles.flatMap((profile) => agentPlans(profile).map(([, { kind }]) => kind))),
    profiles: profiles.length,
    jobs: Object.keys(table.jobs).length,
  };
}

function count(values: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const value of [...values].sort()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** A store that cannot be read is one of the checks. */
async function lastErrorOf(context: CliContext): Promise<LastError | null> {
  try {
    const now = context.clock.now();
    return await useStore(context, async (store) => (await store.read({ kind: 'overview', now })).last_error);
  } catch {
    return null;
  }
}

function describe({ at, reason }: LastError, context: CliContext, table: RouteTable | null) {
  const redactor = new Redactor();
  if (table !== null) redactor.add(resolvable(tableSecretRefs(table), createSecrets(context)));
  const withoutPaths = redactor.redact(reason).replaceAll(context.home, '<home>').replaceAll(context.cwd, '<folder>');
  return { at: new Date(at).toISOString(), reason: maskUrls(withoutPaths) };
}
