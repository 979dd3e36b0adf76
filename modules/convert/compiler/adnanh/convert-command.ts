/** Converts a hook's command and its inputs to the form that the runner script reads from `hooks.json`. */
import type { DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { asList, asMap } from '../foreign-value.ts';
import { EVENT_HEADERS } from './convert-auth.ts';
import { fieldOf, isXmlPath, textOf } from './hook-value.ts';

/** Where the runner script finds a value. */
export interface CommandValue {
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

export function convertCommand(hook: Settings, route: DraftRoute): HookCommand {
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
      'it is relative to the folder in which webhook was started, which is unknown here',
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
  const headers = EVENT_HEADERS[source];
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
