/** Configures the docs site: README is the front page, docs/README.md defines the sidebar. A broken link fails the build. */
import { readFileSync } from 'node:fs';

const INDEX = readFileSync(new URL('../../docs/README.md', import.meta.url), 'utf8');

// biome-ignore lint/style/noDefaultExport: VitePress requires a default export
export default {
  title: 'hookwright',
  description: 'Signed webhooks in; agent prompts, messages and jobs out.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  lastUpdated: false,
  markdown: { anchor: { slugify: anchorOf }, config: (md) => md.core.ruler.push('hookwright', adapt) },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sidebarOf(INDEX),
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial' },
      { text: 'Troubleshooting', link: '/docs/troubleshooting' },
      { text: 'Commands', link: '/docs/cli' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
  },
};

/** Generates the anchor of a heading like GitHub, because links in the pages use these anchors. */
function anchorOf(title) {
  return title
    .replace(/&(?:lt|gt|amp|quot);/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Changes links to a README into links to its page, and prevents Vue from reading braces in code as templates. */
function adapt({ tokens }) {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href !== null) token.attrSet('href', href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md'));
    if (token.type === 'code_inline') token.attrSet('v-pre', '');
  }
}

/** Returns the sections of docs/README.md with their links. */
function sidebarOf(index) {
  const [, ...sections] = index.split(/^## /m);
  return sections.map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: [...section.matchAll(/\[([^\]]+)\]\(([a-z-]+)\.md\)/g)].map(([, text, name]) => ({
      text,
      link: `/docs/${name}`,
    })),
  }));
}
