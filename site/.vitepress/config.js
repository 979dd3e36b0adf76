/** The repository's Markdown as a site: README is the front page, its section "Documentation" the sidebar. A link that leads nowhere fails the build. */
import { readFileSync } from 'node:fs';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

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
    sidebar: sidebarOf(README),
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

/** The groups of README's section "Documentation", and the links in each. */
function sidebarOf(readme) {
  const [, section = ''] = /^## Documentation\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const [, ...parts] = section.split(/^\*\*(.*)\*\*$/m);
  const groups = parts.filter((_, at) => at % 2 === 0);
  return groups.map((text, at) => ({
    text,
    items: [...(parts[2 * at + 1] ?? '').matchAll(/\[([^\]]+)\]\(([^)]+)\.md\)/g)].map(([, title, path]) => ({
      text: upperFirst(title),
      link: `/${path.replace(/(^|\/)README$/, '$1')}`,
    })),
  }));
}

function upperFirst(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
