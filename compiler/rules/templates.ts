/** Rules about templates, filters, scripts and keys of events. */

import { conditions, lowerField } from '../config/grammar.ts';
import { EVENTS, keepsAll } from '../config/route-keys.ts';
import { oneOf } from '../text/suggest.ts';
import { STORING_TARGETS } from './support/receivers.ts';
import { scriptState } from './support/route-facts.ts';
import { hasOwnProfile, rule } from './support/rule.ts';

/** Bursts with `keep: all` and no list, or the reverse (decisions §11). */
export const burstEvents = rule('burst-events', {
  route(route, report) {
    const { config, scope, mode } = route;
    const { coalesce, prompt = '' } = config;
    if (coalesce === undefined || mode !== 'agent') return;
    const offset = prompt.indexOf(EVENTS);
    if (keepsAll(config)) {
      const message = `\`keep: all\` has no effect without \`${EVENTS}\` in the prompt: the run gets only the latest event`;
      const hint = `add \`${EVENTS}\` to the prompt`;
      if (offset < 0) report({ path: ['coalesce', 'keep'], at: 'value', message, hint });
      return;
    }
    const hint = 'add `keep: all` next to `key`';
    for (const key of ['each', 'max_events'] as const) {
      if (coalesce[key] === undefined) continue;
      report({ path: ['coalesce', key], at: 'key', message: `\`${key}\` needs \`keep: all\``, hint });
    }
    // A sender may have a field of that name.
    if (offset < 0 || scope.payloads?.isAlwaysSent(route, ['events']) === true) return;
    const message = `without \`keep: all\`, \`${EVENTS}\` is a field of the payload, not the list of a burst's events`;
    const within = { offset, length: EVENTS.length };
    report({ path: ['prompt'], at: 'value', within, message, hint: 'add `keep: all` to `coalesce`' });
  },
});

/** A list file that does not exist on this machine (§2.2). */
export const listFileMissing = rule('list-file-missing', {
  route(route, report) {
    for (const { config: filter, path: at } of conditions(route.config.filters ?? [], ['filters'])) {
      const { in_file: file } = filter;
      const path = [...at, 'in_file'];
      if (file === undefined || file.endsWith('/') || route.scope.facts.listFile(file.replace(/^<home_dir>\/+/, '')))
        continue;
      const message = `the list \`${file}\` does not exist here: the filter matches nothing`;
      report({ path, at: 'value', message });
    }
  },
});

/** `max_age_seconds` without `timestamp`, or the reverse. */
export const maxAge = rule('max-age', {
  route({ config: { max_age_seconds: seconds, timestamp } }, report) {
    if (seconds !== undefined && timestamp === undefined) {
      const hint = 'write the path of its time in the payload: `timestamp: pull_request.updated_at`';
      report({ path: ['max_age_seconds'], at: 'key', message: '`max_age_seconds` needs `timestamp`', hint });
    }
    if (timestamp === undefined) return;
    if (seconds === undefined) {
      const hint = 'add `max_age_seconds: 900`, or remove `timestamp`';
      report({ path: ['timestamp'], at: 'key', message: '`timestamp` needs `max_age_seconds`', hint });
    }
    const field = lowerField(timestamp);
    if (typeof field === 'string') report({ path: ['timestamp'], at: 'value', message: field, ask: timestamp });
  },
});

/** A script that does not exist on this machine (§2.6). */
export const scriptMissing = rule('script-missing', {
  route(route, report) {
    if (route.config.script === undefined || hasOwnProfile(route) || scriptState(route) !== 'missing') return;
    const message = `the script \`${route.config.script}\` does not exist here: events would be ignored`;
    const [, file] = /^(?:\S*\/)?(?:python3?|node|bash|sh)\s+(\S+)$/.exec(route.config.script) ?? [];
    const hint =
      file === undefined
        ? `put it in \`scripts/\` below the home folder`
        : `\`script\` names only a file, and its suffix selects the interpreter: write \`script: ${file}\``;
    report({ path: ['script'], at: 'value', message, hint });
  },
});

const PROBLEMS = {
  outside: {
    message: 'is not below `<profile home>/scripts/`',
    hint: 'put the script there and write its path relative to that folder',
  },
  linked: {
    message: 'has another hard link, which may be anywhere, so it is not run',
    hint: 'put a copy of the script into `<profile home>/scripts/`',
  },
} as const;

/** A script outside the scripts folder (§2.6). */
export const scriptOutside = rule('script-outside', {
  route(route, report) {
    if (route.config.script === undefined) return;
    const state = scriptState(route);
    const problem = state === 'outside' || state === 'linked' ? PROBLEMS[state] : undefined;
    if (problem === undefined) return;
    const message = `\`${route.config.script}\` ${problem.message}`;
    report({ path: ['script'], at: 'value', message, hint: problem.hint });
  },
});

/** A scope without a key, and two forms of one session. */
export const sessionScope = rule('session-scope', {
  route({ config }, report) {
    const { session, session_key, session_scope } = config;
    const both = session === undefined ? [] : Object.entries({ session_key, session_scope });
    for (const [name, value] of both)
      if (value !== undefined) report({ path: [name], at: 'key', message: `\`session\` replaces \`${name}\`` });
    if (session_scope === undefined || (session_key ?? session) !== undefined) return;
    const hint = 'add the key of a session: `session_key: "{repository.full_name}#{number}"`';
    report({ path: ['session_scope'], at: 'key', message: '`session_scope` needs `session_key`', hint });
  },
});

/** A message that is the whole payload, because no prompt is set. */
export const wholePayloadMessage = rule('whole-payload-message', {
  route({ mode, config, targets }, report) {
    const real = targets.filter(({ target }) => target !== null && !STORING_TARGETS.has(target));
    const key = mode === 'direct' ? 'deliver_only' : 'agent';
    if ((mode !== 'direct' && mode !== 'message') || config.prompt !== undefined || real.length === 0) return;
    const to = oneOf(
      real.map(({ name }) => name),
      'and',
    );
    const message = `no \`prompt\`: the whole payload goes to ${to}`;
    const hint = 'write the message, e.g. `prompt: "{title}"`; `prompt: "{__raw__}"` if you want the whole payload';
    report({ path: [key], at: 'key', message, hint });
  },
});
