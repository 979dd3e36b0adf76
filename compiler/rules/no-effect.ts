/** A key without effect. */
import type { RouteConfig } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteMode } from '../views/route-scope.ts';
import type { ViewRule } from './support/view-rule.ts';

export const noEffect = {
  id: 'no-effect',
  checkRoute(route): readonly Problem[] {
    // Two modes at once are an error, so it is open which keys apply.
    if (route.mode === 'cron' && route.config.deliver_only === true) return [];
    const unused = Object.keys(route.config).flatMap((key) => {
      const reason =
        WITHOUT_EFFECT[route.mode][key] ?? (key === 'auth' && route.config.source !== undefined ? PINNED : null);
      return reason === null ? [] : [{ key, reason }];
    });
    return unused
      .filter(({ key }) => route.config[key as keyof RouteConfig] !== false)
      .map(({ key, reason }) => ({
        rule: 'no-effect',
        path: [key],
        at: 'key',
        message: `\`${key}\` has no effect here: ${reason}`,
      }));
  },
} as const satisfies ViewRule;

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
