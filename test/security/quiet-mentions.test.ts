/**
 * Tests that no comment notifies people: a processed text, as a code host shows it, has no mention outside fenced code.
 * The test uses another parser than the code, with the code host's extensions (tables, footnotes, …).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { quietMentions } from '../../runtime/deliver/prepare-text.ts';
import { cpuTime } from '../helpers/cpu-time.ts';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', commat: '@', copy: '©' };

/** Entities as HTML reads them: numbers need no semicolon, nor do some old names. */
const decode = (html: string): string =>
  html
    .replace(/&#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?/g, (_, hex, decimal) => {
      const code = Number.parseInt(hex ?? decimal, hex === undefined ? 10 : 16);
      return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : '\ufffd';
    })
    .replace(/&(commat);|&(amp|lt|gt|quot|copy);?/g, (_, strict, old) => ENTITIES[strict ?? old] ?? '');

/** The text shown outside fenced code. Tags and comments are removed, because a sanitiser may join the text around them. */
function shown(markdown: string): string {
  const html = micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  const text = html
    .replace(/<pre><code[^>]*>[\s\S]*?<\/code><\/pre>/g, '\n')
    .replace(/<!--[\s\S]*?(?:-->|$)|<[!?/A-Za-z][^>]*(?:>|$)/g, '');
  return decode(text);
}

const MENTION = /(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]/m;

async function check(text: string): Promise<void> {
  const quieted = await quietMentions(text, { whole: true });
  assert.doesNotMatch(shown(quieted), MENTION, JSON.stringify([text, quieted]));
}

describe('a mention is disabled', () => {
  const texts = [
    '@org/team',
    'a\n@org/team',
    '- ```\n  code\n@org/team',
    '- a\n  ```\n  code\n\n@org/team\n',
    '1. ```\n@org/team',
    '> ```\n@org/team',
    '> - ```\n> @org/team',
    '<!-- -->\n@org/team',
    '- <!--\n```\n@org/team\n```\n-->',
    '> <div>\n> ```\n@org/team',
    'a\n<source>\n```\n@org/team\n```',
    '<textarea>\n\n```\n@org/team\n```',
    '<!-- ```\n@org/team\n``` -->',
    '`@org/team',
    '`` `@org/team`',
    '`a\n\n@org/team`',
    '| a | b |\n| - | - |\n| `x | @org/team` |',
    '&#64;org/team',
    '&#x40;org/team',
    '&#0064;org/team',
    '&#X0040;org/team',
    '&commat;org/team',
    '<p>&#64org/team</p>',
    '<p>&#x40org/team</p>',
    '<p>&copy@org/team</p>',
    '@&#111;rg/team',
    '@<!-- -->org/team',
    '@<b></b>org/team',
    '\\@org/team',
    '**@org/team**',
    '_@org_',
    'a*@org*',
    '[@org/team](x)',
    '![@org](x)',
    '~~@org~~',
    '[^1]\n\n[^1]: a\n\n    @org/team',
    '[^1]\n\n[^1]:\n    ```\n```\n@org/team',
    '    @org/team',
    '\t@org/team',
    '``` a`b\n@org/team\n```',
    '~~~\n```\n~~~\n@org/team',
    '```\n   ```  \n@org/team',
    '@org\r@org\r\n@org',
    'x\r```\r@a\r```\r@org',
    '@@org',
    '(@org)',
    'é@org',
  ];
  for (const text of texts) test(JSON.stringify(text), () => check(text));
});

describe('unchanged texts', () => {
  const texts = [
    '```ts\n@Injectable()\nclass A {}\n```',
    'Use:\n\n```suggestion\n@Override\n```\n',
    '- a\n  ```\n  @Override\n  ```',
    '> ```\n> @Override',
    '~~~\n<p>@a</p>\n~~~',
    'mail a@b.c',
    'a @ b',
    'nothing to see',
    '&amp;#64; &lt;',
  ];
  for (const text of texts) {
    test(JSON.stringify(text), async () => assert.equal(await quietMentions(text, { whole: true }), text));
  }
});

test('nothing counts as code in a text that is sent in several pieces', async () => {
  const quieted = await quietMentions('```\n@org/team\n```', { whole: false });
  assert.equal(quieted, '```\n@\u200Borg/team\n```');
});

test('any text has no mention left for the code host', async () => {
  const piece = fc.constantFrom(
    ...[
      '@org/team',
      '@a',
      '&#64;a',
      '&#x40a',
      '&commat;a',
      '`',
      '``',
      '```',
      '~~~',
      '````',
      '\n',
      '\n\n',
      '\r\n',
      '\r',
    ],
    ...[
      '- ',
      '1. ',
      '> ',
      '    ',
      '  ',
      ' ',
      '\t',
      '* ',
      '+ ',
      '<!--',
      '-->',
      '<div>',
      '</div>',
      '<b>',
      '<source>',
      '<pre>',
    ],
    ...[
      '[^1]: ',
      '[^1]',
      '| a | b |\n| - | - |\n',
      '|',
      '[',
      '](x)',
      '*',
      '_',
      '~~',
      '\\',
      '#',
      '---',
      '===',
      'a',
      'é',
      '<',
      '>',
    ],
    ...[
      '<?',
      '?>',
      '<![CDATA[',
      ']]>',
      '<!A',
      '<textarea>',
      '<script>',
      '</script>',
      'https://x.y/',
      '&copy',
      '&#97',
      '"',
      "'",
    ],
  );
  const text = fc.array(piece, { minLength: 2, maxLength: 25 }).map((pieces) => pieces.join(''));
  const runs = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 50_000 : 400;
  await fc.assert(fc.asyncProperty(text, check), { numRuns: runs });
});

test('lines that count as code are code for the code host, also in lists, quotes and beside HTML', async () => {
  const prefix = fc.constantFrom(
    '',
    '- ',
    '  ',
    '> ',
    '1. ',
    '   ',
    '    ',
    '> - ',
    '>   ',
    '\t',
    '[^1]: ',
    '<div>',
    '| ',
  );
  const content = fc.constantFrom(
    '```',
    '~~~',
    '````',
    '``` a',
    '@org/team',
    '@a',
    'x',
    '',
    '-->',
    '<!--',
    '| - |',
    '```a`',
  );
  const lines = fc.array(fc.tuple(prefix, content), { minLength: 3, maxLength: 12 });
  const text = lines.map((all) => all.map((parts) => parts.join('')).join('\n'));
  const runs = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 50_000 : 400;
  await fc.assert(fc.asyncProperty(text, check), { numRuns: runs });
});

describe('hostile text is processed fast', () => {
  const n = 64_000;
  const texts: Readonly<Record<string, string>> = {
    links: '[a]('.repeat(n / 4),
    quotes: '> '.repeat(n / 2),
    lists: '- '.repeat(n / 2),
    nested: `${'> - '.repeat(45)}a\n`.repeat(350),
    stars: '*a_ '.repeat(n / 4),
    references: Array.from({ length: 5000 }, (_, index) => `[${index}]: a`).join('\n'),
    fences: '```\n'.repeat(n / 4),
    lines: '\n'.repeat(n),
    entities: '&#000000000'.repeat(n / 11),
    letters: `&${'a'.repeat(n)}@a`,
  };
  for (const [name, text] of Object.entries(texts)) {
    test(name, async () => {
      await quietMentions('```\n```\n@a', { whole: true });
      let done: Promise<string> = Promise.resolve('');
      const first = cpuTime(() => {
        done = quietMentions(`\`\`\`\n\`\`\`\n@a\n${text}`, { whole: true });
      });
      const begin = process.cpuUsage();
      await done;
      const { user, system } = process.cpuUsage(begin);
      assert.ok(first + (user + system) / 1000 < 1000, `${first} ms, ${(user + system) / 1000} ms`);
    });
  }
});
