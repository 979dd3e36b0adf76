/** No shipped file shows an agent that reads files which a text names: every mention of such a program with `-p` has a safe form. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EXPANDING_PROGRAMS } from '../../modules/payloads/compiler/untrusted/expanding-programs.ts';
import { ROOT } from '../helpers/root.ts';

/** The rule shows there what it reports. */
const EXCUSED: readonly string[] = ['docs/rules.md', 'modules/payloads/compiler/rules/agent-expands-text.yaml'];
const NOT_SHIPPED = ['test', 'node_modules', 'build', 'dist', 'coverage'];

/** Relative to the root. */
function filesBelow(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter(
    (name) => !NOT_SHIPPED.includes(name) && (!name.startsWith('.') || name === '.github'),
  );
  return names.flatMap((name) => {
    const path = join(folder, name);
    return statSync(join(ROOT, path)).isDirectory() ? filesBelow(path) : [path];
  });
}

const everywhere = EXPANDING_PROGRAMS.filter(({ reads }) => reads === 'anywhere');
const names = everywhere.flatMap(({ files, package: name }) => [...files, name]).join('|');
/** The program, and `-p` or `--print` behind it, whatever a format puts between them: quotes, commas, new lines, dashes. */
const MENTION = new RegExp(
  `(?<![\\w@.~-])(?:${names})(?![\\w/-])[^;\`]{0,120}?(?<![\\w-])(?:-p|--print)(?![\\w-])`,
  'g',
);

const quoted = (texts: readonly string[]): string => texts.map((text) => text.replace(/\W/g, '\\$&')).join('|');
const OPTION = new RegExp(`(?<![\\w-])(?:${quoted(everywhere.flatMap(({ options }) => options))})(?![\\w-])`);
const VARIABLE = new RegExp(`(?:${quoted(everywhere.flatMap(({ variables }) => variables))})\\W{1,5}(?:1|true)\\b`);
const DENIED = everywhere.flatMap(({ denied }) => denied ?? []);

/** The mentions that neither their command nor the paragraph or configuration around them makes safe. */
function unsafe(text: string): readonly string[] {
  return [...text.matchAll(MENTION)].flatMap(([mention], index, all) => {
    const at = all[index]?.index ?? 0;
    const end = at + mention.length;
    const command = text.slice(at, end) + (/^[^\n`\])]*/.exec(text.slice(end))?.[0] ?? '');
    const before =
      text
        .slice(0, at)
        .split(/\n\s*\n|```/)
        .at(-1) ?? '';
    const after = text.slice(end).split(/\n\s*\n|```/)[0] ?? '';
    const around = `${before}${mention}${after}`;
    const isSafe = OPTION.test(command) || VARIABLE.test(around) || DENIED.some((each) => command.includes(each));
    return isSafe ? [] : [mention.replace(/\s+/g, ' ')];
  });
}

/** Prompts that begin with a placeholder or `/`, in YAML, JSON and command lines. */
const BARE_PROMPT = /(?<![\w-])(?:prompt["']?:|--prompt)\s*(?:[|>][-+\d]*\s*)?\\?["']?(?:\{(?!\s*\})|\/)[^\n]*/g;

const texts = filesBelow('.')
  .filter((file) => !EXCUSED.includes(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
  .filter(({ text }) => !text.includes('\0'));

test('no shipped file has an agent that expands a text', () => {
  assert.ok(texts.length > 1000, `${texts.length} files`);
  const found = texts.flatMap(({ file, text }) => unsafe(text).map((mention) => `${file}: ${mention}`));
  assert.deepEqual(found, []);
});

describe('an unsafe form is found', () => {
  const forms: Readonly<Record<string, string>> = {
    'in a configuration': 'agents:\n  reviewer:\n    command: [claude, -p]\n',
    'in a comment of one': '# command: [claude, -p]\n',
    'in a block list': '```\ncommand:\n  - claude\n  - -p\n```\n',
    'in a block list of a comment': '# command:\n#   - claude\n#   - -p\n',
    'in a package': 'command: [npx, -y, "@anthropic-ai/claude-code", -p]\n',
    'in a package with its version': 'command: [npx, -y, "@anthropic-ai/claude-code@2.1.197", -p]\n',
    'in JSON': '```json\n{ "agent": { "command": ["claude", "-p", "--tools", ""] } }\n```\n',
    'in JSON over lines': '{\n  "command": [\n    "claude",\n    "-p"\n  ]\n}\n',
    'in the text of a page': 'Write `/usr/bin/claude -p`.\n',
    'with options before': '`claude --model opus --print`',
    'in a list of a program': "const command = [\n  'claude',\n  '-p',\n];\n",
    'in YAML in a text': "const yaml = 'agent:\\n  command: [claude, -p]\\n';",
    'in a message': 'const hint = \'write `command: [claude, -p, --tools, ""]`\';\n',
    'in a file of Docker': 'CMD ["claude", "-p"]\n',
    'beside a safe one': '`claude --bare -p`, or `claude -p`',
  };
  for (const [name, text] of Object.entries(forms)) test(name, () => assert.equal(unsafe(text).length, 1));

  test('a safe one is not', () => {
    const agent = 'agent:\n  command: [claude, -p]\n  env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" }\n';
    assert.deepEqual(unsafe(`\`\`\`yaml\n${agent}\`\`\`\n\`claude --bare -p\`, \`claude -p --bare\`\n`), []);
  });
});

test('no page with such an agent has a prompt that begins with a placeholder', () => {
  const pages = texts.filter(({ text }) => [...text.matchAll(MENTION)].length > 0);
  assert.ok(pages.length > 3, String(pages.length));
  const found = pages.flatMap(({ file, text }) =>
    [...text.matchAll(BARE_PROMPT)].map(([prompt]) => `${file}: ${prompt}`),
  );
  assert.deepEqual(found, []);
  for (const prompt of ['prompt: "{a}"', 'prompt: |\n  {a}', '"prompt": "{a}"', "--prompt '{a}'", 'prompt: "/{a}"'])
    assert.match(prompt, new RegExp(BARE_PROMPT.source));
});
