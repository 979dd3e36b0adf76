/** No shipped file shows an agent that reads files which a text names: judged by the table of the rule `agent-expands-text`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import type { StartedAgent } from '../../modules/payloads/compiler/untrusted/expanding-programs.ts';
import {
  EXPANDING_PROGRAMS,
  programThatExpands,
} from '../../modules/payloads/compiler/untrusted/expanding-programs.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';

const SHIPPED =
  'README.md CHANGELOG.md SECURITY.md action.yml compose.yaml docs examples base catalog cli compiler main modules runtime schemas site';
const TEXT = /\.(?:md|ya?ml|ts|tsx|astro|mjs|json|sh|txt)$/;

/** The rule shows there what it reports. */
const EXCUSED: readonly string[] = ['docs/rules.md', 'modules/payloads/compiler/rules/agent-expands-text.yaml'];

function filesBelow(path: string): readonly string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  const names = readdirSync(join(ROOT, path)).filter(
    (name) => !['node_modules', 'dist', 'build', '.astro'].includes(name),
  );
  return names.flatMap((name) => filesBelow(`${path}/${name}`));
}

/** Every map with a `command`, at any depth. */
function agentsIn(value: unknown): readonly StartedAgent[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.values(value).flatMap(agentsIn);
  return 'command' in value && Array.isArray(value.command) ? [value as StartedAgent, ...within] : within;
}

const NAMES = EXPANDING_PROGRAMS.flatMap(({ files, package: name }) => [...files, name]).join('|');
const LIST = new RegExp(`\\[(?:[^\\][\\n]*[, ])?["']?(?:${NAMES})["']?,[^\\]\\n]*[, ]["']?-[^\\]\\n]*\\]`, 'g');
const LINE = new RegExp(`(?<![\\w/])(?:${NAMES}) +--?\\w[^\`"'\\n]*`, 'g');

/** Lists and command lines that start a known program with options, wherever a text has them: as if they were whole agents. */
function mentionsIn(text: string): readonly StartedAgent[] {
  const lists = [...text.matchAll(LIST)].map(([list]): unknown => parse(list.replaceAll('\\"', '"')));
  const lines = [...text.matchAll(LINE)].map(([line]) => line.split(/\s+/));
  return [...lists, ...lines].map((command) => ({ command: Array.isArray(command) ? command.map(String) : [] }));
}

/** Without what is no YAML: templates of the catalog look like aliases. */
function documents(text: string): readonly unknown[] {
  return parseAllDocuments(text, { logLevel: 'silent' }).map((document) => {
    try {
      return document.toJS() as unknown;
    } catch {
      return null;
    }
  });
}

/** YAML is judged as a whole, with its variables; what is around it by its words. */
function agentsOf(file: string, text: string): readonly StartedAgent[] {
  if (/\.ya?ml$/.test(file)) return [...documents(text).flatMap(agentsIn), ...mentionsIn(commentsOf(text))];
  if (!file.endsWith('.md')) return mentionsIn(text);
  const blocks = codeBlocks(text).filter(({ language }) => /^ya?ml$/.test(language));
  const rest = blocks.reduce((left, block) => left.replace(block.text, () => commentsOf(block.text)), text);
  return [...blocks.flatMap((block) => documents(block.text)).flatMap(agentsIn), ...mentionsIn(rest)];
}

const commentsOf = (yaml: string): string => [...yaml.matchAll(/(?:^|\s)#.*$/gm)].join('\n');

const unsafe = (file: string, text: string): readonly string[] =>
  (new RegExp(NAMES).test(text) ? agentsOf(file, text) : [])
    .filter((agent) => programThatExpands(agent) !== null)
    .map(({ command = [] }) => `${file}: ${command.join(' ')}`);

test('no shipped file has an agent that expands a text', () => {
  const files = SHIPPED.split(' ')
    .flatMap(filesBelow)
    .filter((file) => TEXT.test(file) && !EXCUSED.includes(file));
  assert.ok(files.length > 1000, `${files.length} files`);
  const found = files.flatMap((file) => unsafe(file, readFileSync(join(ROOT, file), 'utf8')));
  // The entry of the change log names what it warns of.
  assert.deepEqual(found, ['CHANGELOG.md: claude -p --tools ']);
});

describe('an unsafe form is found', () => {
  const forms: Readonly<Record<string, readonly [file: string, text: string]>> = {
    'in a configuration': ['a.yaml', 'agents:\n  reviewer:\n    command: [claude, -p]\n'],
    'in a comment of one': ['a.yaml', '# command: [claude, -p]\n'],
    'in a block of a page': ['a.md', '```yaml\nagent:\n  command: [npx, -y, "@anthropic-ai/claude-code", -p]\n```\n'],
    'in the text of a page': ['a.md', 'Write `command: [claude, -p]`.\n'],
    'as a command line': ['a.md', 'Write `claude -p`.\n'],
    'in a message': ['a.ts', 'const hint = \'write `command: [claude, -p, --tools, ""]`\';\n'],
  };
  for (const [name, [file, text]] of Object.entries(forms))
    test(name, () => assert.equal(unsafe(file, text).length, 1));

  test('a safe one is not', () => {
    const agent = 'agent:\n  command: [claude, -p]\n  env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" }\n';
    assert.deepEqual(unsafe('a.md', `\`\`\`yaml\n${agent}\`\`\`\n\`claude --bare -p\`\n`), []);
  });
});

test('no shipped prompt for such an agent begins with a placeholder', () => {
  const texts = ['docs/agents.md', 'docs/github.md', 'docs/gitlab.md'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const prompts = texts.flatMap((text) =>
    [...text.matchAll(/^\s+prompt: (?:\|\n\s+|["'])?(.)/gm)].map(([, first]) => first),
  );
  assert.ok(prompts.length > 3, String(prompts.length));
  assert.ok(!prompts.includes('{'), prompts.join());
});
