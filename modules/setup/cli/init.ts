/** `hookwright init`: writes a configuration from a template, with secrets and tests, and prints the steps at the sender. */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { parseChoice } from '../../../cli/command-line/values.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { refuseLinks } from '../../../cli/compile/refuse-links.ts';
import { printLine, printNote } from '../../../cli/output/print.ts';
import { canPrompt, createPrompter } from '../../../cli/output/prompter.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { newSecret } from '../../../cli/subscriptions/save-entry.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { displayPath, overlayFiles } from '../../../compiler/source/files.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import { collectSecretRefs, routeSecretRefs } from '../../../runtime/platform/secrets.ts';
import type { RouteTable, SecretRef } from '../../../schemas/generated/types.ts';
import type { InitFacts, InitFile, Template } from './init/plan-init.ts';
import { describeRoutes, planInit, readTemplates } from './init/plan-init.ts';
import { addCatalogHints, bundleSchema } from './schema.ts';
import { readOptionalFile } from './setup/plan-setup.ts';
import type { KnownAgents, SetupAnswers } from './setup/wizard.ts';
import { askAgent } from './setup/wizard.ts';

const templates = readTemplates();

const options = {
  template: text('name', 'Use this template'),
  agent: text('name', 'Let this known program run the prompts'),
  yes: flag('Do not ask; use the first template'),
};

type Options = ValuesOf<typeof options>;

export const initCommand = command({
  details: `Templates:\n\n${templates.map(({ name, about }) => `- ${name}: ${about}`).join('\n')}`,
  options,
  args: { folder: optionalArgument('folder') },
  async run(context, given) {
    const folder = resolve(context.cwd, given.folder ?? '.');
    const template = await withAgent(context, given, await choose(context, given));
    refuseExisting(context, folder, template);
    const table = await compile(context, folder, template);
    const schema = addCatalogHints(bundleSchema('config'), await context.catalog());
    const files = planInit(template, `${JSON.stringify(schema, null, 2)}\n`, {
      ...variablesOf(table),
      env: readOptionalFile(join(folder, '.env')),
      newSecret: () => newSecret(context),
    });
    write(context, folder, files);
    await explain(context, folder, table, template);
  },
});

async function choose(context: CliContext, given: Options): Promise<Template> {
  const names = templates.map(({ name }) => name);
  const [first] = templates;
  if (first === undefined) throw new Error('no example has a config');
  const name = given.template ?? (given.yes ? first.name : await ask(context, first.name));
  const chosen = parseChoice(name, '--template', names);
  return templates.find((template) => template.name === chosen) ?? first;
}

async function ask(context: CliContext, initial: string): Promise<string> {
  if (!canPrompt(context)) {
    const names = templates.map(({ name }) => name).join(', ');
    throw new UsageError('there is no terminal for questions', `choose a template: --template <${names}>`);
  }
  const prompter = createPrompter(context);
  prompter.begin('hookwright init');
  const choices = templates.map(({ name: value, about: hint }) => ({ value, label: value, hint }));
  return prompter.choose('Start from', choices, initial);
}

/** The template with a known program as its agent, if one is chosen. */
async function withAgent(context: CliContext, given: Options, template: Template): Promise<Template> {
  const { agents } = await context.catalog();
  const isAsked = given.template === undefined && given.agent === undefined && !given.yes;
  const config = template.files.get('hookwright.yaml') ?? '';
  const other = OWN_AGENT.test(config) ? { label: 'The one of the template', hint: 'as in its file' } : undefined;
  const settings = isAsked ? await askAgent(createPrompter(context), agents, other) : settingsOf(given.agent, agents);
  if (settings.length === 0) return template;
  const agent = Object.fromEntries(settings.map(({ path, value }) => [path.at(-1), value]));
  const rest = config.replace(OWN_AGENT, '').trimEnd();
  const files = [...template.files].map(([name, text]) => [name, text.replace(OLD_RESULT, '')] as const);
  return { ...template, files: new Map([...files, ['hookwright.yaml', `${rest}\n${stringify({ agent })}`]]) };
}

/** The agent of a template: a block of its first level. */
const OWN_AGENT = /^agent:\n(?: .*\n)+/m;

/** What the tests of a template without an agent expect. */
const OLD_RESULT = /^ +agent: preview\n/gm;

/** @throws UsageError if it needs more than a key, for which there are no defaults */
function settingsOf(wanted: string | undefined, agents: KnownAgents): SetupAnswers['settings'] {
  if (wanted === undefined) return [];
  const use = parseChoice(wanted, '--agent', Object.keys(agents));
  const { title = '', needs = [], key = '' } = agents[use] ?? {};
  const missing = needs.filter((need) => need !== 'key');
  if (missing.length > 0)
    throw new UsageError(
      `${title} also needs ${missing.join(' and ')}`,
      'answer the questions of `hookwright init` on a terminal, or add them: hookwright agent show',
    );
  const own = needs.map((need) => ({ path: ['agent', need], value: `env:${key}` }));
  return [{ path: ['agent', 'use'], value: use }, ...own];
}

function refuseExisting(context: CliContext, folder: string, template: Template): void {
  const { cwd } = context;
  const there = [...template.files.keys(), 'hookwright.yml'].filter((name) => existsSync(join(folder, name)));
  const [first] = there;
  if (first === undefined) return;
  throw new CliError(
    `${displayPath(join(folder, first), cwd)} already exists; nothing was written`,
    'to change it: hookwright gateway setup; to use another folder: hookwright init <folder>',
  );
}

/** Compiles a template, because its routes and variables are only known then. */
async function compile(context: CliContext, folder: string, { name, files }: Template): Promise<RouteTable> {
  const path = join(folder, 'hookwright.yaml');
  const request = await createCompileRequest(context, { configs: [path] });
  const overlay = overlayFiles(nodeFiles, new Map([[path, files.get('hookwright.yaml') ?? '']]));
  const { output } = compileRequest(request, overlay);
  if (output === null) throw new Error(`the template ${name} does not compile`);
  return output.table;
}

function write(context: CliContext, folder: string, files: readonly InitFile[]): void {
  const paths = files.map(({ name }) => join(folder, name));
  refuseLinks(paths, [folder], 'to use another folder: hookwright init <folder>');
  mkdirSync(folder, { recursive: true });
  for (const { name, text, mode } of files) {
    const path = join(folder, name);
    if (name !== '.env' && existsSync(path)) continue;
    writeAtomic(path, text, mode);
    printLine(context, displayPath(path, context.cwd));
  }
}

async function explain(context: CliContext, folder: string, table: RouteTable, { needs }: Template): Promise<void> {
  const sources = await openSources(context, []);
  const routes = Object.values(table.routes);
  for (const line of describeRoutes(routes, { table, sources, keptIn: () => 'in .env' })) printNote(context, line);
  const { wanted } = variablesOf(table);
  if (wanted.length > 0) printNote(context, `\nFill in .env: ${wanted.join(', ')}`);
  if (needs.length > 0) printNote(context, ['\nIt needs:', ...needs.map((text) => `- ${text}`)].join('\n'));
  if (table.profiles.default?.agent.kind === 'preview')
    printNote(context, '\nPrograms that can run prompts: hookwright agent list');
  const where = folder === context.cwd ? '' : `cd ${displayPath(folder, context.cwd)} && `;
  printNote(context, `\nNext: ${where}hookwright test && hookwright gateway run`);
}

/** Secrets of routes are generated; all others are issued by a service. */
function variablesOf(table: RouteTable): Pick<InitFacts, 'generated' | 'wanted'> {
  const names = (refs: readonly SecretRef[]): string[] => [
    ...new Set(refs.filter(({ kind }) => kind === 'env').map(({ value }) => value)),
  ];
  const routes = Object.values(table.routes).flatMap(routeSecretRefs);
  const generated = names([...routes, ...(table.server.secret === null ? [] : [table.server.secret])]);
  return { generated, wanted: names(collectSecretRefs(table.profiles)).filter((name) => !generated.includes(name)) };
}
