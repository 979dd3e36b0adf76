/** `hookwright gateway setup`: asks for settings, shows the changes, and writes them without touching the rest of the files. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { openHome } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, list } from '../../../cli/command-line/command.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { refuseLinks } from '../../../cli/compile/refuse-links.ts';
import { formatDiff, setEnvLines } from '../../../cli/files.ts';
import { formatDiagnostics, printLine, printNote } from '../../../cli/output/print.ts';
import { canPrompt, createPrompter } from '../../../cli/output/prompter.ts';
import { newSecret } from '../../../cli/subscriptions/save-entry.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { displayPath, overlayFiles } from '../../../compiler/source/files.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { describeSetup } from './init/plan-init.ts';
import { editYaml, readYaml } from './setup/edit-yaml.ts';
import { CONSOLE_TOKEN, planSetup, readOptionalFile, setupTarget } from './setup/plan-setup.ts';
import type { SetupAnswers } from './setup/wizard.ts';
import { askSetup, parseAnswers, withDefaults } from './setup/wizard.ts';

const HEADER = '# Created by `hookwright gateway setup`. Edit it or run setup again; `hookwright lint` checks it.\n';

interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** Whether its values are secrets, which are not shown. */
  readonly secret: boolean;
}

const options = {
  set: list('key=value', 'Set this instead of asking; repeatable'),
  yes: flag('Do not ask; use defaults'),
  config: list('path', 'File to change'),
};

type Options = ValuesOf<typeof options>;

export const gatewaySetupCommand = command({
  options,
  async run(context, given) {
    if (!given.yes && !canPrompt(context)) {
      throw new UsageError(
        'there is no terminal for questions',
        'set the values: hookwright gateway setup --yes --set port=8644',
      );
    }
    const path = setupTarget(context, given.config);
    if (given.config === undefined && dirname(path) !== context.home)
      refuseLinks([path], [dirname(path)], 'to change the file that it leads to: --config <path>');
    const { changes, route, token } = await planChanges(context, given, path);
    if (changes.length === 0) {
      printNote(context, 'nothing to change');
      return;
    }
    const table = await check(context, given, changes);
    show(context, changes);
    if (!given.yes && !(await createPrompter(context).confirm('Write this?', true)))
      throw new CliError('nothing was written');
    write(context, changes);
    for (const line of await describeSetup(context, table, route)) printNote(context, line);
    if (token !== undefined) printNote(context, `Token for the console, also in .env: ${token}`);
    printNote(context, '\nNext: hookwright gateway run');
  },
});

async function planChanges(context: CliContext, given: Options, path: string) {
  const text = readOptionalFile(path);
  const name = displayPath(path, context.cwd);
  const config = readYaml(name, text);
  const answers = await readAnswers(context, given, config, name);
  const plan = planSetup(answers, { config, generateSecret: () => newSecret(context) });
  const env = join(context.home, '.env');
  const before = readOptionalFile(env);
  const after = Object.keys(plan.env).length === 0 ? before : setEnvLines(before, plan.env);
  const changes = [
    { path, before: text, after: editYaml(name, text === '' ? HEADER : text, plan.edits), secret: false },
    { path: env, before, after, secret: true },
  ].filter((change) => change.before !== change.after);
  return { changes, route: answers.route?.name, token: plan.env[CONSOLE_TOKEN] };
}

async function readAnswers(context: CliContext, given: Options, config: unknown, name: string): Promise<SetupAnswers> {
  if (given.set !== undefined || given.yes) {
    const answers = parseAnswers(given.set ?? []);
    return given.yes ? withDefaults(answers, config) : answers;
  }
  const prompter = createPrompter(context);
  prompter.begin(`hookwright: ${name}`);
  return askSetup(prompter, config, (await context.catalog()).agents);
}

/** @throws CliError if the changed configuration would not compile */
async function check(context: CliContext, given: Options, changes: readonly Change[]): Promise<RouteTable> {
  const path = setupTarget(context, given.config);
  const request = await createCompileRequest(context, { configs: [path] });
  const files = overlayFiles(nodeFiles, new Map(changes.map((change) => [change.path, change.after])));
  const { diagnostics, output } = compileRequest(request, files);
  context.stderr.write(formatDiagnostics('pretty', diagnostics, context, 'stderr'));
  if (output === null) throw new CliError('the configuration would have errors; nothing was written');
  return output.table;
}

function show(context: CliContext, changes: readonly Change[]): void {
  const paint = createPaint(context.colour.stderr);
  for (const { path, before, after, secret } of changes) {
    printNote(context, paint('bold', displayPath(path, context.cwd)));
    const [old, next] = secret ? [maskEnv(before), maskEnv(after)] : [before, after];
    const lines = formatDiff(old, next, paint);
    printNote(context, lines.length === 0 ? '  a secret is replaced' : lines.join('\n'));
  }
}

/** Also hides values in comments and in lines that are not valid in a `.env` file. */
const maskEnv = (text: string): string =>
  text.replace(/^([^=\n]*=).+$/gm, '$1(hidden)').replace(/^(?!\s*#)[^=\n]+$/gm, '(hidden)');

function write(context: CliContext, changes: readonly Change[]): void {
  openHome(context);
  for (const { path, after, secret } of changes) {
    const mode = secret ? 0o600 : (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    writeAtomic(path, after, mode);
    printLine(context, displayPath(path, context.cwd));
  }
}
