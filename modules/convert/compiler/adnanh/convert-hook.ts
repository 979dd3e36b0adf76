/** Converts one hook: its trigger rule, its command, and its response. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { Draft, DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { asList, asMap } from '../foreign-value.ts';
import type { KeyReport } from '../report.ts';
import { renamed, variableName } from '../route-name.ts';
import type { TriggerCondition } from './condition.ts';
import { ALWAYS } from './condition.ts';
import { setAuth } from './convert-auth.ts';
import type { HookCommand } from './convert-command.ts';
import { convertCommand } from './convert-command.ts';
import { convertRule } from './convert-rule.ts';
import { closeExecuted } from './executed-values.ts';
import { fieldOf, textOf } from './hook-value.ts';

export function convertHook(draft: Draft, route: DraftRoute, hook: Settings): HookCommand {
  noteId(route, hook);
  convertTrigger(draft, route, hook);
  const command = convertCommand(hook, route);
  closeExecuted(command, hook, route);
  for (const key of Object.keys(hook)) convertAnswer(route, key, hook[key]);
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
  if (auth === undefined) inventToken(draft, route, path, rule);
  else setAuth(draft, route, auth);
  if (auths.length > 1) {
    const reason = 'a route checks one secret: the others of this rule are not checked';
    closeRoute(route, path, reason, 'Decide which one to use, then remove `enabled: false`');
  }
  if (filters.length > 0) route.settings.filters = filters;
  if (field !== null && gaps.length === 0 && auths.length < 2) route.report.carried(field.path);
}

/** The hook did not authenticate its sender: anyone who knew the URL could run the command. */
function inventToken(draft: Draft, route: DraftRoute, path: NodePath, { gaps }: TriggerCondition): void {
  const variable = variableName(route.name, 'secret');
  draft.variables.set(variable, draft.newSecret());
  Object.assign(route.settings, { source: 'url-token', secret: `env:${variable}` });
  if (gaps.length > 0) return;
  const instead = `Give the sender the URL with ?token=<secret> appended; the secret is ${variable} in .env`;
  route.report.changed(path, 'it had no secret: anyone who knew the URL could run the command', instead);
}

type Answer = readonly [reason: string, instead: string];

const STATUS: Answer = ['events are always answered 202 with JSON', 'Make the sender accept any 2xx (docs/http.md)'];
const OUTPUT: Answer = [
  'an event is answered before its command runs',
  'Its output is in the log, or goes where `deliver` says; `hookwright deliveries show` shows the result',
];

/** Keys that configure the response, which hookwright does not allow. */
const ANSWERS = new Map<string, Answer>([
  ['response-message', STATUS],
  ['response-headers', STATUS],
  ['success-http-response-code', STATUS],
  [
    'trigger-rule-mismatch-http-response-code',
    ['an event that a filter rejects is answered 200, an unauthenticated one 401', 'Adapt the sender (docs/http.md)'],
  ],
  ['include-command-output-in-response', OUTPUT],
  ['include-command-output-in-response-on-error', OUTPUT],
]);

const CONVERTED = new Set([
  'id',
  'execute-command',
  'command-working-directory',
  'trigger-rule',
  'pass-arguments-to-command',
  'pass-environment-to-command',
  'pass-file-to-command',
  'parse-parameters-as-json',
]);

function convertAnswer({ report, path: at }: DraftRoute, key: string, value: unknown): void {
  const name = key.toLowerCase();
  const path = [...at, key];
  if (CONVERTED.has(name)) return;
  const answer = ANSWERS.get(name);
  const isOff = value === false || value === null || value === 0 || value === '';
  if (answer !== undefined && !isOff) report.lost(path, ...answer);
  else if (answer !== undefined || name === 'trigger-signature-soft-failures') report.carried(path);
  else if (name === 'http-methods') convertMethods(report, path, value);
  else if (name === 'incoming-payload-content-type') convertType(report, path, value);
  else report.changed(path, 'webhook does not know this key either', 'It is left out');
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
