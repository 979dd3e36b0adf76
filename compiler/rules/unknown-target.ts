/** A target that does not exist (§4.4). */
import type { Problem } from '../diagnostics/problem.ts';
import { targetNamed } from '../lower/delivery.ts';
import { JOB_DELIVERIES } from '../lower/job.ts';
import { targetEntries } from '../lower/profile.ts';
import { DEFAULT_PROFILE } from '../routes/route-scope.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Rule } from './support/rule.ts';
import { unknownTargets } from './support/targets.ts';

export const unknownTarget: Rule = {
  id: 'unknown-target',
  severity: 'error',
  title: '`deliver`, or a key under `platforms`, names no delivery target.',
  why: 'Nothing could be delivered, and a misspelt name would be found out only when the first message is lost.',
  checkRoute(route) {
    return unknownTargets(route.config.deliver, route.scope);
  },
  checkJob(job) {
    return unknownTargets(job.config.deliver, job.scope, JOB_DELIVERIES);
  },
  checkProfile({ name: profile, config, scope }) {
    const names = scope.table.target_names;
    const known = [...Object.keys(names), ...(profile === DEFAULT_PROFILE ? ['webhook'] : [])];
    return targetEntries(config)
      .filter(([name]) => targetNamed(names, name) === null)
      .map(
        ([name]): Problem => ({
          rule: this.id,
          path: ['platforms', name],
          at: 'key',
          message:
            name === 'webhook'
              ? '`webhook` is no target: the adapter is one for all profiles, and set up in the root config'
              : `there is no delivery target \`${name}\`${didYouMean(name, known)}`,
          ...renameFix(name, known),
        }),
      );
  },
};
