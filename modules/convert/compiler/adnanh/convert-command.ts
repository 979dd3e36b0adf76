/** Converts a hook's command and its inputs to the form that the runner script reads from `hooks.json`. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { EVENT_HEADERS } from './convert-auth.ts';
import type { HookContext } from './hook-value.ts';
import { asList, asMap, fieldOf, isXmlPath, textOf } from './hook-value.ts';

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

export function convertCommand(hook: Settings, path: NodePath, context: HookContext): HookCommand {
  const { report, route } = context;
  for (const key of ['execute-command', 'command-working-directory']) {
    const field = fieldOf(hook, key, path);
    if (field !== null) report.carried(field.path, route.name);
  }
  const command = textOf(hook, 'execute-command') ?? '';
  const directory = textOf(hook, 'command-working-directory');
  if (directory === null && command.includes('/') && !command.startsWith('/'))
    report.changed({
      path: fieldOf(hook, 'execute-command', path)?.path ?? path,
      route: route.name,
      reason: 'it is relative to the folder in which webhook was started, which is unknown here',
      instead: 'Write the absolute path into hooks/hooks.json',
    });
  const named = (value: CommandValue, from: Settings): CommandValue & { readonly variable: string } => ({
    ...value,
    variable: textOf(from, 'envname') || `HOOK_${textOf(from, 'name') ?? ''}`,
  });
  return {
    ...{ command, directory: directory === '' ? null : directory },
    arguments: values(hook, 'pass-arguments-to-command', path, context).map(({ value }) => value),
    environment: values(hook, 'pass-environment-to-command', path, context).map(({ value, from }) =>
      named(value, from),
    ),
    files: values(hook, 'pass-file-to-command', path, context).map(({ value, from }) => {
      const variable = textOf(from, 'envname') || `HOOK_${textOf(from, 'name') ?? ''}`.toUpperCase();
      return { ...value, variable, base64: fieldOf(from, 'base64decode', [])?.value === true };
    }),
    parsed: parsedParameters(hook, path, context),
  };
}

/** `parse-parameters-as-json`: the runner script parses these parameters. */
export function parsedParameters(hook: Settings, path: NodePath, { report, route }: HookContext): readonly string[] {
  const field = fieldOf(hook, 'parse-parameters-as-json', path);
  if (field === null) return [];
  const parameters = asList(field.value).map(asMap);
  const others = parameters.filter((parameter) => textOf(parameter, 'source') !== 'payload');
  if (others.length > 0) {
    const reason = 'only payload parameters are parsed';
    report.lost({ path: field.path, route: route.name, reason, instead: 'Make the sender put it into the payload' });
  } else report.carried(field.path, route.name);
  return parameters
    .filter((parameter) => !others.includes(parameter))
    .map((parameter) => textOf(parameter, 'name') ?? '');
}

interface Passed {
  readonly value: CommandValue;
  readonly from: Settings;
}

function values(hook: Settings, key: string, path: NodePath, context: HookContext): readonly Passed[] {
  const { report, route } = context;
  const field = fieldOf(hook, key, path);
  if (field === null) return [];
  return asList(field.value).map((item, at) => {
    const from = asMap(item);
    const value = passedValue(from, String(route.settings.source ?? ''));
    if (value !== null) report.carried([...field.path, at], route.name);
    else {
      closeRoute(route);
      report.lost({
        path: [...field.path, at],
        route: route.name,
        reason: isXmlPath(textOf(from, 'name') ?? '')
          ? 'XML bodies are not supported'
          : `a command gets the payload, the event type and the delivery id, but no \`${textOf(from, 'source') ?? ''}\``,
        instead:
          'Remove it from hooks/hooks.json, or make the sender put it into the payload; then remove `enabled: false`',
      });
    }
    return { value: value ?? { from: 'text', name: '' }, from };
  });
}

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
