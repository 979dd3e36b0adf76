/** Adds the playground to the docs site, after `site/copy-pages.js`: the page itself, and a frame below each guide's example. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPlayground } from './build-page.ts';
import { guideExamples, linkTo } from './guide-examples.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = join(ROOT, 'site/pages');

/** The frame is loaded when opened, because the page is half a megabyte. The browser caches it for the next guide. */
const frame = (page: string, link: string): string => `
<details class="playground">
<summary>Try it: change the configuration or the payload, and see what happens to the event</summary>
<p><a href="/playground.html#${link}" target="_blank">Open in a new window</a></p>
<iframe src="/playground.html#${link}" title="Playground with the example of ${page}" loading="lazy" style="width: 100%; height: 48rem; border: 1px solid var(--vp-c-divider)"></iframe>
</details>
`;

mkdirSync(join(PAGES, 'public'), { recursive: true });
writeFileSync(join(PAGES, 'public/playground.html'), await buildPlayground(ROOT));
for (const example of await guideExamples(ROOT)) {
  const path = join(PAGES, 'docs', `${example.page}.md`);
  const added = frame(example.page, linkTo(example));
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(example.fence, () => example.fence + added),
  );
}
