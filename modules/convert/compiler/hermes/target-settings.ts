/** Sets up the targets that converted routes deliver to, from the chat platforms of Hermes Agent. */
import type { Settings } from '../draft.ts';
import { HERMES_PLATFORMS } from './built/platforms.ts';
import type { Hermes } from './hermes-value.ts';
import { mapAt, secretFrom, variableFrom } from './hermes-value.ts';

/** @param used names of the platforms that routes deliver to */
export function convertPlatforms(hermes: Hermes, used: ReadonlySet<string>): void {
  const { draft, config } = hermes;
  const targets = draft.config.platforms as Settings;
  for (const name of used) {
    if (name === 'log') continue;
    const platform = Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined;
    if (platform !== undefined) targets[name] = convertPlatform(hermes, name, platform);
    else if (PLAIN_TARGETS.has(name)) targets[name] = { enabled: true };
  }
  for (const name of Object.keys(mapAt(config, 'platforms'))) {
    if (name === 'webhook' || used.has(name)) continue;
    draft.report.changed(['platforms', name], 'no route delivers there', 'Keep it in the config of Hermes Agent');
  }
}

function convertPlatform(hermes: Hermes, name: string, { settings, home }: Platform): Settings {
  const target: Settings = { enabled: true };
  const known = new Set(['enabled', 'extra', 'home_channel']);
  for (const [key, setting] of Object.entries(settings)) {
    for (const written of setting.keys) known.add(written);
    const value = settingFrom(hermes, name, setting);
    if (value !== null) target[key] = value;
    else if (setting.optional !== true) noteMissing(hermes, name, key, setting);
  }
  const channel = homeChannel(hermes, name, home);
  if (channel !== null) target.home_channel = channel;
  noteOthers(hermes, name, known);
  return target;
}

function settingFrom(hermes: Hermes, name: string, { keys, variable, secret }: PlatformSetting): unknown {
  const { draft, config, env } = hermes;
  for (const at of [
    ['platforms', name],
    ['platforms', name, 'extra'],
  ]) {
    const settings = mapAt(config, ...at);
    const key = keys.find((candidate) => settings[candidate] !== undefined && settings[candidate] !== '');
    if (key === undefined) continue;
    const path = [...at, key];
    const value = settings[key];
    if (secret === true) return secretFrom(hermes, value, { path, report: draft.report, variable });
    draft.report.carried(path);
    return typeof value === 'number' ? value : expand(String(value), env);
  }
  if (secret === true) return variableFrom(hermes, variable);
  return env.get(variable) ?? null;
}

/** Expands variables: only secrets may be references. */
const expand = (text: string, env: ReadonlyMap<string, string>): string =>
  text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (written, name: string) => env.get(name) ?? written);

function noteMissing({ draft }: Hermes, name: string, key: string, { variable }: PlatformSetting): void {
  const reason = `the target ${name} needs \`${key}\`, which is in neither this file nor the .env next to it (${variable})`;
  draft.report.lost(['platforms', name], reason, `Set platforms.${name}.${key}`);
}

/** The original's home channel is a map with platform, chat and display name; hookwright stores only the chat. */
function homeChannel({ draft, config, env }: Hermes, name: string, variable: string): unknown {
  const path = ['platforms', name, 'home_channel'];
  const { home_channel: home } = mapAt(config, 'platforms', name);
  if (typeof home === 'string' || typeof home === 'number') {
    draft.report.carried(path);
    return home;
  }
  const { chat_id: chat, thread_id: thread } = mapAt(home);
  if (chat === undefined || chat === null) return env.get(variable) ?? null;
  draft.report.changed(path, 'in hookwright, a home channel is only a chat id; names are not kept');
  if (thread !== undefined && thread !== null && thread !== '')
    draft.report.lost(
      [...path, 'thread_id'],
      'in hookwright, a home channel has no topic',
      'Set `message_thread_id` in the `deliver_extra` of each route that posts to that topic',
    );
  return typeof chat === 'number' ? chat : String(chat);
}

function noteOthers({ draft, config }: Hermes, name: string, known: ReadonlySet<string>): void {
  const at = ['platforms', name];
  const reason = 'this setting is for chats between people and the agent';
  for (const path of [at, [...at, 'extra']])
    for (const key of Object.keys(mapAt(config, ...path)))
      if (!known.has(key)) draft.report.changed([...path, key], reason, 'Keep it in the config of Hermes Agent');
}

interface PlatformSetting {
  /** Under `platforms.<name>` or its `extra`. */
  readonly keys: readonly string[];
  /** In its `.env`. */
  readonly variable: string;
  readonly secret?: boolean;
  readonly optional?: boolean;
}

interface Platform {
  /** Sources of the target's settings, by setting name. */
  readonly settings: Readonly<Record<string, PlatformSetting>>;
  /** The variable that contains the home channel. */
  readonly home: string;
}

/** By name. */
export const PLATFORMS: Readonly<Record<string, Platform>> = HERMES_PLATFORMS;

/** Targets that need no credentials. */
export const PLAIN_TARGETS: ReadonlySet<string> = new Set(['log', 'github_comment']);
