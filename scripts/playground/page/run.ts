/**
 * Compiles a configuration and explains a request to it, with the code of the command line. In the browser,
 * `scripts/playground/build-page.ts` replaces Node.js by `browser/`: there is no disk, no network and no secret.
 */
import { createPaint } from '../../../base/paint.ts';
import { loadCompilerParts } from '../../../cli/compile/compiler-parts.ts';
import type { CompileOutput, CompileResult } from '../../../compiler/compile.ts';
import { compile } from '../../../compiler/compile.ts';
import type { Files } from '../../../compiler/source/files.ts';
import { loadShippedCatalog } from '../../../compiler/source/load-catalog.ts';
import { codehosts } from '../../../modules/codehosts/module.ts';
import { guard } from '../../../modules/guard/module.ts';
import { mail } from '../../../modules/mail/module.ts';
import { payloads } from '../../../modules/payloads/module.ts';
import { tutor } from '../../../modules/tutor/module.ts';
import { explainReach, formatExplanation } from '../../../modules/workbench/cli/explain/format-explanation.ts';
import type { ExplainingMachine } from '../../../modules/workbench/runtime/explain/create-explainer.ts';
import { createExplainer } from '../../../modules/workbench/runtime/explain/create-explainer.ts';
import {
  linkRefusal,
  reportBudgets,
  storedLimits,
} from '../../../modules/workbench/runtime/explain/delivery-refusal.ts';
import { configuredJobState, SWITCHED_OFF } from '../../../modules/workbench/runtime/explain/explain-services.ts';
import type { DeliveryContext } from '../../../runtime/deliver/deliverer.ts';
import type { HttpConnections } from '../../../runtime/deliver/http-pool.ts';
import { TokenCache } from '../../../runtime/deliver/http-pool.ts';
import { createPace } from '../../../runtime/deliver/pace.ts';
import { loadMarks } from '../../../runtime/module.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import { printSecretRef, SecretError } from '../../../runtime/platform/secrets.ts';
import { EXAMPLE_INSTALLATION } from '../../../runtime/table/link-loop.ts';
import { partsOf } from '../../../runtime/verify/request.ts';
import type { ExplainedBudget, RoutePlan } from '../../../schemas/generated/types.ts';
import { memoryFiles, shippedFiles } from './browser/files.ts';

/** The folder of the configuration, and the user's home. */
export const PROJECT = '/project';
const USER = '/home/user';
const HOME = `${USER}/.hookwright`;

const CATALOG = loadShippedCatalog(shippedFiles, '/catalog');
const modules = await loadCompilerParts([payloads, tutor]);
const PARTS = [payloads, guard, codehosts, mail].flatMap(({ runtime }) => runtime ?? []);

/** @param files texts by absolute path; `/project/hookwright.yaml` is the configuration @param mode permission bits of all files */
export function compileIn(files: Readonly<Record<string, string>>, mode = 0o600): CompileResult {
  const disk: Files = memoryFiles(files, mode);
  return compile({
    files: disk,
    cwd: PROJECT,
    home: HOME,
    configs: [],
    env: { HOME: USER },
    flags: {},
    catalog: CATALOG,
    jobs: [],
    modules,
  });
}

export interface PageRequest {
  readonly payload: string;
  /** Event type; empty: read from the payload. */
  readonly event: string;
}

const nowhere = (): never => {
  throw new Error('the page sends nothing');
};
const NOWHERE: HttpConnections = { open: nowhere, publicOnly: () => NOWHERE };

/** Resolves literal secrets; references are unavailable. */
const SECRETS: SecretResolver = {
  resolve(ref) {
    if (ref.kind === 'literal') return ref.value;
    throw new SecretError(`${printSecretRef(ref)} is unavailable: the playground has no env: and file: secrets`);
  },
};

const NOTHING_SENT: DeliveryContext = {
  modules: PARTS,
  env: {},
  clock: systemClock,
  log: silentLog,
  http: NOWHERE,
  runProcess: nowhere,
  pace: createPace({ clock: systemClock, longestHoldMs: 0 }),
  tokens: new TokenCache(systemClock),
  homeOf: () => HOME,
};

/** A machine without disk, network and store. */
const MACHINE: ExplainingMachine = {
  home: HOME,
  userHome: USER,
  files: { stat: missing, read: missing },
  verifies: false,
  marks: (plan) => loadMarks(PARTS, [plan]),
  linkRefusal: async (table, secrets) => linkRefusal(table, secrets, NOTHING_SENT),
};

/** Explains the request as `hookwright explain` prints it. Rejects with LinkError for a route that cannot be served. */
export async function explainIn(
  { table, reach }: Pick<CompileOutput, 'table' | 'reach'>,
  plan: RoutePlan,
  { payload, event }: PageRequest,
): Promise<readonly string[]> {
  let budgets: readonly ExplainedBudget[] = [];
  const explainer = createExplainer(MACHINE, table, {
    secrets: SECRETS,
    clock: systemClock,
    installation: async () => EXAMPLE_INSTALLATION,
    ids: { dispatch: () => 'example', delivery: () => 'example', marker: () => '000000000000' },
    jobState: (profile, id) => configuredJobState(table, profile, id),
    overLimit: async (dispatch, event) => {
      const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions();
      const world = {
        parts: PARTS,
        timezone,
        now: systemClock.now(),
        jobs: async () => [],
        rows: async () => [],
      };
      const found = await storedLimits({ table, plan, dispatch, event }, world);
      ({ budgets } = found);
      return found.over;
    },
  });
  const prefix = plan.profile === 'default' ? '' : `/p/${plan.profile}`;
  const headers = [
    ['host', 'localhost'],
    ['content-type', 'application/json'],
  ] as const;
  const request = partsOf('POST', `${prefix}/webhooks/${plan.name}`, headers, Buffer.from(payload, 'utf8'));
  const found = await explainer.explain(plan, { request, event: event === '' ? null : event, runScript: null });
  const { enabled } = table.server;
  const start = enabled ? {} : { taken: false, would_not_start: SWITCHED_OFF };
  return formatExplanation(
    { ...found, ...explainReach(reach(plan.name)), ...reportBudgets(budgets), ...start },
    createPaint(false),
  );
}

function missing(path: string): never {
  throw new Error(`${path} does not exist: the playground has no disk`);
}
