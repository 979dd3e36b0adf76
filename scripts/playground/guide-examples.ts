/** Collects examples from the docs for the playground: the configuration of a page, and an event that its first route accepts. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../compiler/compile.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { overlayFiles } from '../../compiler/source/files.ts';
import { loadShippedCatalog } from '../../compiler/source/load-catalog.ts';
import { payloads } from '../../modules/payloads/module.ts';
import { signTestEvent } from '../../modules/workbench/cli/test-event/sign-test-event.ts';

export interface GuideExample {
  /** Name of the page in docs/, without `.md`. */
  readonly page: string;
  /** The code block of the page, with its fences. */
  readonly fence: string;
  readonly config: string;
  readonly event: string;
  readonly payload: string;
}

const FENCES = /^```yaml\n([\s\S]*?\n)```\n/gm;

/** Returns examples sorted by page, for pages with a complete configuration that has a route. @param root of the repository */
export async function guideExamples(root: string): Promise<readonly GuideExample[]> {
  const known = await payloads.payloads?.();
  const compiler = await payloads.compiler?.();
  if (known === undefined || compiler === undefined) throw new Error('the payloads module is incomplete');
  const folder = join(root, 'docs');
  const catalog = loadShippedCatalog(nodeFiles, join(root, 'catalog'));
  const path = join(folder, 'hookwright.yaml');
  const exampleOf = (page: string, fence: string, config: string): GuideExample | null => {
    const files = overlayFiles(nodeFiles, new Map([[path, config]]));
    const { output } = compile({
      files,
      cwd: folder,
      home: folder,
      configs: [path],
      env: {},
      flags: {},
      catalog,
      jobs: [],
      modules: [compiler],
    });
    const [plan] = Object.values(output?.table.routes ?? {});
    if (output === null || plan === undefined) return null;
    const now = Date.now();
    const { event, body } = signTestEvent({
      plan,
      table: output.table,
      event: undefined,
      source: undefined,
      key: null,
      now,
      random: randomBytes,
      body: null,
      sample: (scheme, named) => known.sample(plan, named, scheme, now),
      secrets: { resolve: () => 'a secret that signs nothing here' },
    });
    const payload = `${JSON.stringify(JSON.parse(body.toString('utf8')), null, 2)}\n`;
    return { page, fence, config, event: event ?? '', payload };
  };
  return readdirSync(folder).flatMap((name): readonly GuideExample[] => {
    // The examples of rules show mistakes.
    if (!name.endsWith('.md') || name === 'rules.md') return [];
    for (const [fence, config = ''] of readFileSync(join(folder, name), 'utf8').matchAll(FENCES)) {
      const example = exampleOf(name.slice(0, -3), fence, config);
      if (example !== null) return [example];
    }
    return [];
  });
}

/** Returns the fragment of the playground's address, which page.ts reads. */
export const linkTo = ({ config, event, payload }: GuideExample): string =>
  Buffer.from(JSON.stringify({ config, event, payload })).toString('base64url');
