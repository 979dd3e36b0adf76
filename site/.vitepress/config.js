/** The repository's Markdown as a site: README is the front page, docs/README.md the sidebar. A link that leads nowhere fails the build. */
import { readFileSync } from 'node:fs';

const INDEX = readFileSync(new URL('../../docs/README.md', import.meta.url), 'utf8');

// biome-ignore lint/style/noDefaultExport: VitePress takes nothing else
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

/** The anchor of a heading as GitHub makes it, which the links in the pages follow. */
function anchorOf(title) {
  return title
    .replace(/&(?:lt|gt|amp|quot);/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Links to a README lead to the page that it becomes, and braces in code are no template of Vue. */
function adapt({ tokens }) {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href !== null) token.attrSet('href', href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md'));
    if (token.type === 'code_inline') token.attrSet('v-pre', '');
  }
}

/** The sections of docs/README.md, and the links in each. */
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
