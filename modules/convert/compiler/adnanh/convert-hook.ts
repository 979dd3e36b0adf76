/** Converts one hook: its trigger rule, its command, and its response. */

import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { REFUSED_HEADERS, WITHOUT_BODY } from '../../../../compiler/lower/respond.ts';
import type { CodeArgument, Interpreter } from '../../../../compiler/rules/support/code-arguments.ts';
import {
  codeArguments,
  isCodeVariable,
  isInterpreter,
  isWrapper,
} from '../../../../compiler/rules/support/code-arguments.ts';
import type { KeyReport } from '../conversion.ts';
import { renamed, variableName } from '../conversion.ts';
import type { Draft, DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { asList, asMap } from '../foreign-value.ts';
import { CONVERTED_KEYS, EVALUATING, LOST_ANSWERS, PRINTING } from './built/names.ts';
import type { TriggerCondition } from './convert-rule.ts';
import { ALWAYS, convertRule, eventHeaders, setAuth } from './convert-rule.ts';
import { fieldOf, isXmlPath, textOf } from './hook-value.ts';

export function convertHook(draft: Draft, route: DraftRoute, hook: Settings): HookCommand {
  noteId(route, hook);
  convertTrigger(draft, route, hook);
  const command = convertCommand(hook, route);
  closeExecuted(command, hook, route);
  const accepted: Settings = {};
  for (const key of Object.keys(hook)) Object.assign(accepted, convertAnswer(route, key, hook[key]));
  if (WITHOUT_BODY.has(Number(accepted.status))) delete accepted.body;
  const response = { status: 200, ...accepted };
  // The original knows no duplicates: they get the same response.
  if (Object.keys(accepted).length > 0)
    route.settings.respond = { accepted: response, duplicate: structuredClone(response) };
  Object.assign(route.settings, { script: 'hook-values.sh', prompt: '{script_output}' });
  return command;
}

function noteId({ name, path, report }: DraftRoute, hook: Settings): void {
  const id = fieldOf(hook, 'id', path);
  if (id === null) return;
  if (id.value === name) report.carried(id.path);
  else report.changed(id.path, renamed(name));
}

function convertTrigger(draft: Draft, route: DraftRoute, hook: Settings): void {
  const field = fieldOf(hook, 'trigger-rule', route.path);
  const parsed = asList(fieldOf(hook, 'parse-parameters-as-json', [])?.value).map(
    (item) => textOf(asMap(item), 'name') ?? '',
  );
  const soft = fieldOf(hook, 'trigger-signature-soft-failures', [])?.value === true;
  const rule = field === null ? ALWAYS : convertRule(asMap(field.value), field.path, { parsed, soft });
  const { auths, filters, gaps } = rule;
  for (const gap of gaps) closeRoute(route, gap.path, gap.reason, `${gap.instead}; then remove \`enabled: false\``);
  const path = field?.path ?? route.path;
  const [auth] = auths;
  if (auth === undefined) addToken(draft, route, path, rule);
  else setAuth(draft, route, auth);
  if (auths.length > 1) {
    const reason = 'a route checks one secret: the others of this rule are not checked';
    closeRoute(route, path, reason, 'Decide which one to use, then remove `enabled: false`');
  }
  if (filters.length > 0) route.settings.filters = filters;
  if (field !== null && gaps.length === 0 && auths.length < 2) route.report.carried(field.path);
}

/** The hook did not authenticate its sender: anyone who knew the URL could run the command. */
function addToken(draft: Draft, route: DraftRoute, path: NodePath, { gaps }: TriggerCondition): void {
  const variable = variableName(route.name, 'secret');
  draft.variables.set(variable, draft.newSecret());
  Object.assign(route.settings, { source: 'url-token', secret: `env:${variable}` });
  if (gaps.length > 0) return;
  const instead = `Give the sender the URL with ?token=<secret> appended; the secret is ${variable} in .env`;
  route.report.changed(path, 'the hook had no secret: anyone who knew the URL could run the command', instead);
}

/** Keys that configure the response, each with what is lost where hookwright does not allow that, and what to do instead. */
const LOST = new Map(Object.entries(LOST_ANSWERS).flatMap(([keys, lost]) => keys.split(' ').map((key) => [key, lost])));
const CONVERTED = new Set(CONVERTED_KEYS.split(' '));

/** Returns the part of the response that a route can set. */
function convertAnswer({ report, path: at }: DraftRoute, key: string, value: unknown): object | null {
  const name = key.toLowerCase();
  const path = [...at, key];
  if (CONVERTED.has(name)) return null;
  const answer = LOST.get(name);
  const isOff = value === false || value === null || value === 0 || value === '';
  const part = isOff ? null : (RESPONSE.get(name)?.(value) ?? null);
  if (answer !== undefined && !isOff && part === null) report.lost(path, answer.reason, answer.instead);
  else if (answer !== undefined || name === 'trigger-signature-soft-failures') report.carried(path);
  else if (name === 'http-methods') convertMethods(report, path, value);
  else if (name === 'incoming-payload-content-type') convertType(report, path, value);
  else report.changed(path, 'adnanh/webhook does not use this key either', 'The key is left out');
  return part;
}

/** Parts of the response to an accepted event, by key; null if a route cannot set the value. */
const RESPONSE: ReadonlyMap<string, (value: unknown) => object | null> = new Map([
  ['success-http-response-code', (status) => (/^2\d\d$/.test(String(status)) ? { status: Number(status) } : null)],
  ['response-message', (body) => (/^[^{}]{1,65536}$/.test(String(body)) ? { body: String(body) } : null)],
  ['response-headers', headersIn],
]);
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}: [ -~]{0,1000}$/;

function headersIn(list: unknown): object | null {
  const pairs = asList(list).map((each) => ['name', 'value'].map((key) => textOf(asMap(each), key) ?? ''));
  const isPlain = pairs.every(
    (pair) => HEADER.test(pair.join(': ')) && !REFUSED_HEADERS.has(pair[0]?.toLowerCase() ?? ''),
  );
  return isPlain && pairs.length > 0 && pairs.length <= 20 ? { headers: Object.fromEntries(pairs) } : null;
}

function convertMethods(report: KeyReport, path: NodePath, value: unknown): void {
  const methods = asList(value).map((method) => String(method).trim().toUpperCase());
  if (methods.every((method) => method === 'POST')) report.carried(path);
  else report.lost(path, 'only POST is accepted', 'Make the sender use POST');
}

function convertType(report: KeyReport, path: NodePath, value: unknown): void {
  const type = String(value).toLowerCase();
  if (type.includes('json') || type === 'application/x-www-form-urlencoded')
    report.changed(path, 'the content type that the sender states is used; without one, a body is JSON');
  else report.lost(path, 'a body is JSON or a form', 'Make the sender send one of these');
}

/** Where the runner script finds a value. */
interface CommandValue {
  readonly from: 'text' | 'payload' | 'whole' | 'event' | 'delivery';
  /** A literal, or a path in the payload. */
  readonly name?: string;
}

/** One hook in `hooks.json`. */
export interface HookCommand {
  readonly command: string;
  readonly directory: string | null;
  readonly arguments: readonly CommandValue[];
  readonly environment: readonly (CommandValue & { readonly variable: string })[];
  readonly files: readonly (CommandValue & { readonly variable: string; readonly base64: boolean })[];
  /** Payload parameters that contain JSON as text. */
  readonly parsed: readonly string[];
}

function convertCommand(hook: Settings, route: DraftRoute): HookCommand {
  const { report, path } = route;
  for (const key of ['execute-command', 'command-working-directory']) {
    const field = fieldOf(hook, key, path);
    if (field !== null) report.carried(field.path);
  }
  const command = textOf(hook, 'execute-command') ?? '';
  const directory = textOf(hook, 'command-working-directory');
  if (directory === null && command.includes('/') && !command.startsWith('/'))
    report.changed(
      fieldOf(hook, 'execute-command', path)?.path ?? path,
      'the path is relative to the folder in which adnanh/webhook was started, which is unknown here',
      'Write the absolute path into hooks/hooks.json',
    );
  const variableOf = (from: Settings): string => textOf(from, 'envname') || `HOOK_${textOf(from, 'name') ?? ''}`;
  return {
    command,
    directory: directory === '' ? null : directory,
    arguments: values(hook, 'pass-arguments-to-command', route).map(({ value }) => value),
    environment: values(hook, 'pass-environment-to-command', route).map(({ value, from }) => ({
      ...value,
      variable: variableOf(from),
    })),
    files: values(hook, 'pass-file-to-command', route).map(({ value, from }) => ({
      ...value,
      variable: textOf(from, 'envname') || variableOf(from).toUpperCase(),
      base64: fieldOf(from, 'base64decode', [])?.value === true,
    })),
    parsed: parsedParameters(hook, route),
  };
}

/** `parse-parameters-as-json`: the runner script parses these parameters. */
function parsedParameters(hook: Settings, { path, report }: DraftRoute): readonly string[] {
  const field = fieldOf(hook, 'parse-parameters-as-json', path);
  if (field === null) return [];
  const parameters = asList(field.value).map(asMap);
  const parsed = parameters.filter((parameter) => textOf(parameter, 'source') === 'payload');
  if (parsed.length === parameters.length) report.carried(field.path);
  else report.lost(field.path, 'only payload parameters are parsed', 'Make the sender put it into the payload');
  return parsed.map((parameter) => textOf(parameter, 'name') ?? '');
}

interface Passed {
  readonly value: CommandValue;
  readonly from: Settings;
}

function values(hook: Settings, key: string, route: DraftRoute): readonly Passed[] {
  const field = fieldOf(hook, key, route.path);
  if (field === null) return [];
  return asList(field.value).map((item, at) => {
    const from = asMap(item);
    const value = passedValue(from, String(route.settings.source ?? ''));
    const path = [...field.path, at];
    if (value !== null) route.report.carried(path);
    else closeRoute(route, path, whyNotPassed(from), INSTEAD_OF_PASSING);
    return { value: value ?? { from: 'text', name: '' }, from };
  });
}

const whyNotPassed = (from: Settings): string =>
  isXmlPath(textOf(from, 'name') ?? '')
    ? 'XML bodies are not supported'
    : `a command gets the payload, the event type and the delivery id, but no \`${textOf(from, 'source') ?? ''}\``;

const INSTEAD_OF_PASSING =
  'Remove it from hooks/hooks.json, or make the sender put it into the payload; then remove `enabled: false`';

function passedValue(from: Settings, source: string): CommandValue | null {
  const name = textOf(from, 'name') ?? '';
  const headers = eventHeaders.get(source);
  switch (textOf(from, 'source')) {
    case 'string':
      return { from: 'text', name };
    case 'payload':
      return isXmlPath(name) ? null : { from: 'payload', name };
    case 'entire-payload':
      return { from: 'whole' };
    case 'request':
      return name.toLowerCase() === 'method' ? { from: 'text', name: 'POST' } : null;
    case 'header':
      if (name.toLowerCase() === headers?.event) return { from: 'event' };
      return name.toLowerCase() === headers?.delivery ? { from: 'delivery' } : null;
    default:
      return null;
  }
}

/** The use of values by a program file is unknown; a note of the conversion says so. */
function closeExecuted(command: HookCommand, hook: Settings, route: DraftRoute): void {
  const close = (key: string, at: number | null, reason: string): void => {
    const path = fieldOf(hook, key, route.path)?.path ?? route.path;
    closeRoute(route, at === null ? path : [...path, at], reason, INSTEAD);
  };
  const argv = [command.command, ...command.arguments.map((value) => (isSent(value) ? null : (value.name ?? '')))];
  const code = codeArguments(argv);
  for (const [at, value] of command.arguments.entries()) {
    const reason = isSent(value) ? whyExecuted(command.command, code, at + 1) : null;
    if (reason !== null) close('pass-arguments-to-command', at, reason);
  }
  const variables = [
    ...command.environment.map((value, at) => ({ key: 'pass-environment-to-command', at, value })),
    ...command.files.map((value, at) => ({ key: 'pass-file-to-command', at, value })),
  ];
  for (const { key, at, value } of variables)
    if (isSent(value) && isCodeVariable(value.variable))
      close(key, at, `programs execute what \`${value.variable}\` contains or names, and the sender writes it`);
  const isGiven = [...command.arguments, ...variables.map(({ value }) => value)].some(isSent);
  const doubtful = code.findLast(({ index, interpreter }) => {
    const text = argv[index];
    return typeof text === 'string' && !(isShell(interpreter) && isPlainShell(text));
  });
  if (isGiven && doubtful !== undefined)
    close(
      'pass-arguments-to-command',
      doubtful.index - 1,
      `this code for \`${doubtful.program}\` may execute what the sender writes`,
    );
}

const INSTEAD =
  'Put the code into a script that takes the value as data, and pass it after the name of the script; then remove `enabled: false`';

/** Whether the sender chooses the text. */
const isSent = ({ from }: CommandValue): boolean => from !== 'text';

function whyExecuted(command: string, code: readonly CodeArgument[], index: number): string | null {
  const read = code.find((found) => found.index === index);
  if (read !== undefined) return `\`${read.program}\` reads this argument as code, and the sender writes it`;
  if (isWrapper(command))
    return `\`${command}\` starts a program that its arguments name, and the sender writes this one`;
  return isForeign(command)
    ? `it is unknown how \`${command}\` uses its arguments, and the sender writes this one`
    : null;
}

/** Folders of installed packages; a name without a folder is searched there. */
const SYSTEM = /^(?:(?:\/usr(?:\/local)?|\/snap|\/opt\/homebrew)?\/s?bin\/)?[^/]+$/;
const IS_SCRIPT = /\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ts|php|lua)$/;
const PRINTS = new Set(PRINTING.split(' '));

/**
 * A system program that is neither known to print its arguments nor a known interpreter. Many execute an argument or
 * read it as a file: `tar --to-command`, `java -cp`, `rsync -e`.
 */
const isForeign = (program: string): boolean =>
  SYSTEM.test(program) && !IS_SCRIPT.test(program) && !isInterpreter(program) && !PRINTS.has(fileName(program));

const fileName = (program: string): string => program.slice(program.lastIndexOf('/') + 1);

const isShell = ({ variable }: Interpreter): boolean => variable === '$NAME';

/** A program, with words and quoted variables as its arguments. */
const COMMAND = /^[\w./:@,+-]+(?: +(?:[\w./:@,+=-]+|"[^"`$\\]*(?:\$(?:\w+|\{\w+\}|[@*])[^"`$\\]*)*"))*$/;
const EVALUATES = new Set(EVALUATING.split(' '));

/** Whether variables are only ever arguments of programs that do not execute them: any other code may do anything. */
function isPlainShell(text: string): boolean {
  return text.split(/ *(?:&&|\|\||[;\n]) */).every((command) => {
    if (command === '') return true;
    if (!COMMAND.test(command)) return false;
    const [program = '', ...rest] = command.match(/"[^"]*"|[^ ]+/g) ?? [];
    const argv = [program, ...rest.map((word) => (word.includes('$') ? null : word))];
    const isRead = codeArguments(argv).some(({ index }) => argv[index] === null);
    const isKnown = !argv.includes(null) || !isForeign(program);
    return !isRead && isKnown && !isWrapper(program) && !EVALUATES.has(program);
  });
}
