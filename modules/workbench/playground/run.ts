/**
 * What the page does: compiles a configuration and explains a request to it, with the code of the command line. It runs in a
 * browser, where `scripts/playground/build-page.ts` puts `browser/` in the place of Node.js: there is no disk, no network and no secret.
 */
import { createPaint } from '../../../base/paint.ts';
import { loadCompilerParts } from '../../../cli/compile/compiler-parts.ts';
import type { CompileResult } from '../../../compiler/compile.ts';
import { compile } from '../../../compiler/compile.ts';
import type { Files } from '../../../compiler/source/files.ts';
import { loadShippedCatalog } from '../../../compiler/source/shipped-catalog.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { Marks } from '../../../runtime/table/link-template.ts';
import { partsOf } from '../../../runtime/verify/request.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';
import { payloads } from '../../payloads/module.ts';
import { formatExplanation } from '../cli/explain/format-explanation.ts';
import { explainRequest } from '../runtime/explain/explain-request.ts';
import { createDryDispatcher } from '../runtime/explain/explain-services.ts';
import { linkExplained } from '../runtime/explain/link-explained.ts';
import { Warnings } from '../runtime/explain/warnings.ts';
import { memoryFiles, shippedFiles } from './browser/files.ts';

/** The folder of the configuration, and the user's. */
export const PROJECT = '/project';
const USER = '/home/user';
const HOME = `${USER}/.hookwright`;

const CATALOG = loadShippedCatalog(shippedFiles, '/catalog');
const modules = await loadCompilerParts([payloads]);

/** @param files texts by absolute path; `/project/hookwright.yaml` is the configuration @param mode their permission bits */
export function compileIn(files: Readonly<Record<string, string>>, mode = 0o600): CompileResult {
  const disk: Files = memoryFiles(files, mode);
  return compile({
    ...{ files: disk, cwd: PROJECT, home: HOME, configs: [], env: { HOME: USER }, flags: {} },
    ...{ catalog: CATALOG, jobs: [], modules },
  });
}

export interface Asked {
  readonly payload: string;
  /** Event type; empty: as the payload has it. */
  readonly event: string;
}

/** What becomes of the request, as `hookwright explain` prints it. Rejects with LinkError for a route that cannot be served. */
export async function explainIn(
  table: RouteTable,
  plan: RoutePlan,
  { payload, event }: Asked,
): Promise<readonly string[]> {
  const warnings = new Warnings();
  const files = { stat: missing, read: missing };
  const of = { home: HOME, userHome: USER, files, secrets: null, clock: systemClock, warnings };
  const linked = linkExplained(plan, table, { ...of, marks: await marksOf(plan) });
  const prefix = plan.profile === 'default' ? '' : `/p/${plan.profile}`;
  const headers = [['content-type', 'application/json']] as const;
  const request = partsOf('POST', `${prefix}/webhooks/${plan.name}`, headers, Buffer.from(payload, 'utf8'));
  const agent = table.profiles[plan.profile]?.agent.kind ?? null;
  const found = await explainRequest(
    { ...linked, agent, request, event: event === '' ? null : event, runScript: null, warnings },
    {
      clock: systemClock,
      ids: { dispatch: () => 'example', delivery: () => 'example', marker: () => '000000000000' },
      dispatcher: createDryDispatcher({ refusal: () => null, jobState: () => 'accepted' }),
      installation: async () => '0'.repeat(16),
      homeChannel: (profile, { target, extra }) =>
        'chat_id' in extra ? null : (table.profiles[profile]?.targets[target]?.home_channel ?? null),
      refusal: null,
    },
  );
  return formatExplanation(found, createPaint(false));
}

function missing(path: string): never {
  throw new Error(`${path} is not there: the page has no disk`);
}

/** Loads them for a route with marked values. */
async function marksOf({ prompt }: RoutePlan): Promise<Marks | null> {
  const isMarked = prompt.some(({ kind }) => kind === 'notice');
  return isMarked ? ((await payloads.runtime?.marks?.()) ?? null) : null;
}
