/** Converts one hook: its trigger rule, its command, and its response. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { Draft, DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { variableName } from '../route-name.ts';
import type { TriggerCondition } from './condition.ts';
import { ALWAYS } from './condition.ts';
import { setAuth } from './convert-auth.ts';
import type { HookCommand } from './convert-command.ts';
import { convertCommand } from './convert-command.ts';
import { convertRule } from './convert-rule.ts';
import type { HookContext } from './hook-value.ts';
import { asList, asMap, fieldOf, textOf } from './hook-value.ts';

export function convertHook(draft: Draft, route: DraftRoute, hook: Settings): HookCommand {
  const context = { report: draft.report, route };
  noteId(context, hook);
  convertTrigger(draft, route, hook);
  const command = convertCommand(hook, route.path, context);
  for (const key of Object.keys(hook)) convertAnswer(context, key, hook[key]);
  Object.assign(route.settings, { script: 'hook-values.sh', prompt: '{script_output}' });
  return command;
}

function noteId({ report, route }: HookContext, hook: Settings): void {
  const id = fieldOf(hook, 'id', route.path);
  if (id === null) return;
  if (id.value === route.name) report.carried(id.path, route.name);
  else {
    const reason = `route names consist of lower-case letters, digits, \`-\` and \`_\`: it is now ${route.name}`;
    report.changed({ path: id.path, route: route.name, reason });
  }
}

function convertTrigger(draft: Draft, route: DraftRoute, hook: Settings): void {
  const { report } = draft;
  const field = fieldOf(hook, 'trigger-rule', route.path);
  const parsed = asList(fieldOf(hook, 'parse-parameters-as-json', [])?.value).map(
    (item) => textOf(asMap(item), 'name') ?? '',
  );
  const soft = fieldOf(hook, 'trigger-signature-soft-failures', [])?.value === true;
  const rule = field === null ? ALWAYS : convertRule(asMap(field.value), field.path, { parsed, soft });
  const { auths, filters, gaps } = rule;
  for (const gap of gaps) {
    closeRoute(route);
    report.lost({ ...gap, route: route.name, instead: `${gap.instead}; then remove \`enabled: false\`` });
  }
  const path = field?.path ?? route.path;
  const [auth] = auths;
  if (auth === undefined) inventToken(draft, route, path, rule);
  else setAuth(draft, route, auth);
  if (auths.length > 1) {
    closeRoute(route);
    const reason = 'a route checks one secret: the others of this rule are not checked';
    report.lost({ path, route: route.name, reason, instead: 'Decide which one to use, then remove `enabled: false`' });
  }
  if (filters.length > 0) route.settings.filters = filters;
  if (field !== null && gaps.length === 0 && auths.length < 2) report.carried(field.path, route.name);
}

/** The hook did not authenticate its sender: anyone who knew the URL could run the command. */
function inventToken(draft: Draft, route: DraftRoute, path: NodePath, { gaps }: TriggerCondition): void {
  const variable = variableName(route.name, 'secret');
  draft.variables.set(variable, draft.newSecret());
  Object.assign(route.settings, { source: 'url-token', secret: `env:${variable}` });
  if (gaps.length > 0) return;
  draft.report.changed({
    path,
    route: route.name,
    reason: 'it had no secret: anyone who knew the URL could run the command',
    instead: `Give the sender the URL with ?token=<secret> appended; the secret is ${variable} in .env`,
  });
}

interface Answer {
  readonly reason: string;
  readonly instead: string;
}

const ANSWER = 'events are always answered 202 with JSON';
const STATUS: Answer = { reason: ANSWER, instead: 'Make the sender accept any 2xx (docs/http.md)' };
const OUTPUT: Answer = {
  reason: 'an event is answered before its command runs',
  instead: 'Its output is in the log, or goes where `deliver` says; `hookwright deliveries show` shows the result',
};

/** Keys that configure the response, which hookwright does not allow. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'response-message': STATUS,
  'response-headers': STATUS,
  'success-http-response-code': STATUS,
  'trigger-rule-mismatch-http-response-code': {
    reason: 'an event that a filter rejects is answered 200, an unauthenticated one 401',
    instead: 'Adapt the sender (docs/http.md)',
  },
  'include-command-output-in-response': OUTPUT,
  'include-command-output-in-response-on-error': OUTPUT,
};

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

function convertAnswer({ report, route }: HookContext, key: string, value: unknown): void {
  const name = key.toLowerCase();
  const path = [...route.path, key];
  if (CONVERTED.has(name)) return;
  const answer = Object.hasOwn(ANSWERS, name) ? ANSWERS[name] : undefined;
  const isOff = value === false || value === null || value === 0 || value === '';
  if (answer !== undefined && !isOff) report.lost({ path, route: route.name, ...answer });
  else if (answer !== undefined) report.carried(path, route.name);
  else if (name === 'http-methods') convertMethods({ report, route }, path, value);
  else if (name === 'incoming-payload-content-type') convertType({ report, route }, path, value);
  else if (name === 'trigger-signature-soft-failures') report.carried(path, route.name);
  else
    report.changed({
      path,
      route: route.name,
      reason: 'webhook does not know this key either',
      instead: 'It is left out',
    });
}

function convertMethods({ report, route }: HookContext, path: NodePath, value: unknown): void {
  const methods = asList(value).map((method) => String(method).trim().toUpperCase());
  if (methods.every((method) => method === 'POST')) report.carried(path, route.name);
  else report.lost({ path, route: route.name, reason: 'only POST is accepted', instead: 'Make the sender use POST' });
}

function convertType({ report, route }: HookContext, path: NodePath, value: unknown): void {
  const type = String(value).toLowerCase();
  if (type.includes('json') || type === 'application/x-www-form-urlencoded') {
    const reason = 'the content type that the sender states is used; without one, a body is JSON';
    report.changed({ path, route: route.name, reason });
    return;
  }
  const reason = 'a body is JSON or a form';
  report.lost({ path, route: route.name, reason, instead: 'Make the sender send one of these' });
}
