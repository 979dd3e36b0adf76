/** A key without effect. */
import type { RouteMode } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const noEffect = rule('no-effect', {
  route(route, report) {
    // Two modes at once are an error, so it is open which keys apply.
    if (route.mode === 'cron' && route.config.deliver_only === true) return;
    for (const [key, value] of Object.entries(route.config)) {
      const pinned = key === 'auth' && route.config.source !== undefined ? PINNED : undefined;
      const reason = WITHOUT_EFFECT[route.mode][key] ?? pinned;
      if (reason === undefined || value === false) continue;
      report({ path: [key], at: 'key', message: `\`${key}\` has no effect here: ${reason}` });
    }
  },
});

const DIRECT = 'a `deliver_only` route runs no agent';
const JOB = 'the job named by `cron_job` brings its own';
const PINNED = '`source` already says how the sender signs';

/** Unused keys by mode, and why. Another rule reports `coalesce`. */
const WITHOUT_EFFECT: Readonly<Record<RouteMode, Readonly<Record<string, string>>>> = {
  agent: {},
  direct: { skills: DIRECT, toolsets: DIRECT, max_concurrent: DIRECT, untrusted: DIRECT },
  cron: {
    skills: JOB,
    toolsets: JOB,
    deliver: JOB,
    deliver_extra: JOB,
    mirror_to_session: JOB,
    max_concurrent: 'a job never runs twice at once',
  },
};
