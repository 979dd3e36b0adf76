/** A route that reacts to its own answers. */
import type { FilterConfig, TargetEffect } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { findJobs } from '../lower/find-job.ts';
import type { RouteView } from '../route-scope.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import { membersOf, readLeaf } from '../shapes/read-leaf.ts';
import type { Rule } from './support/rule.ts';
import { atRoute } from './support/rule.ts';
import { targetPath } from './support/targets.ts';

export const selfTrigger: Rule = {
  id: 'self-trigger',
  severity: 'warning',
  strict: true,
  title: 'What a route delivers comes back to it as an event, and nothing keeps its own out.',
  why: 'The answer is posted, the service sends an event about it, the route answers that, and so on until a limit or a bill ends it. A filter on who wrote what came back ends it, or one on how the text has to begin. Reported where it is certain which sender the events are from; a `script` may keep them out, and is trusted to.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      answers:
        source: github
        events: [issue_comment]
        prompt: "Answer {comment.user.login}: {comment.body}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{issue.number}" }
  github_comment:
    enabled: true
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      answers:
        source: github
        events: [issue_comment]
        filters:
          - { field: comment.user.login, not_equals: our-bot }
        prompt: "Answer {comment.user.login}: {comment.body}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{issue.number}" }
  github_comment:
    enabled: true
`,
  },
  checkRoute(route) {
    const { payloads } = route.scope;
    if (payloads === null) return [];
    return targetsOf(route).flatMap(({ target, name, index }): readonly Problem[] => {
      const effect = payloads.effects.causedBy(target).find((each) => comesBack(route, each));
      return effect === undefined ? [] : [problem(route, name, index, effect)];
    });
  },
};

interface NamedTarget {
  readonly target: string;
  readonly name: string;
  /** undefined: of the job that the route feeds. */
  readonly index?: number | null;
}

function targetsOf(route: RouteView): readonly NamedTarget[] {
  const { jobs } = route.scope.table;
  if (route.mode === 'cron')
    return findJobs(route, route.config.cron_job ?? '').flatMap(({ id }) =>
      (jobs[id]?.deliver ?? []).map(({ target }) => ({ target, name: target })),
    );
  return route.targets.flatMap(({ target, name, index }) => (target === null ? [] : [{ target, name, index }]));
}

function comesBack(route: RouteView, effect: TargetEffect): boolean {
  const set = route.scope.payloads?.seenBy(route) ?? null;
  if (set === null || !sends(route, effect.source)) return false;
  const isTaken = set.forms.some(
    ({ event, action }) =>
      effect.events.includes(event) &&
      (effect.actions === undefined || action === null || effect.actions.includes(action)),
  );
  return isTaken && !leavesOf(route.config.filters ?? []).some((leaf) => keepsOut(leaf, effect));
}

/** Whether the events are from this sender. */
const sends = (route: RouteView, source: string): boolean => route.schemes.some(({ name }) => name === source);

function leavesOf(filters: FilterConfig | readonly FilterConfig[]): readonly WrittenLeaf[] {
  return membersOf(filters, []).flatMap(({ config }): readonly WrittenLeaf[] => {
    const inner = config.all ?? config.any ?? config.not;
    if (inner !== undefined) return leavesOf(inner);
    const leaf = readLeaf(config, []);
    return leaf === null ? [] : [leaf];
  });
}

/** Any condition on who wrote it; of those on the text, one on all of it or on how it begins: an answer quotes. */
function keepsOut({ field, operator, value }: WrittenLeaf, { author, text }: TargetEffect): boolean {
  const path = field.path.join('.');
  if (author.includes(path)) return true;
  return text.includes(path) && (operator === 'equals' || (operator === 'regex' && String(value).startsWith('^')));
}

function problem(route: RouteView, name: string, index: number | null | undefined, effect: TargetEffect): Problem {
  const [field = ''] = effect.author;
  const event = effect.events.map((each) => `\`${each}\``).join(', ');
  const whose = index === undefined ? `the job \`${route.config.cron_job}\`` : 'the route';
  const message = `what ${whose} delivers to \`${name}\` comes back as ${event}, which the route takes: it answers itself`;
  const hint = `keep its own out: \`{ field: ${field}, not_equals: <the account it posts as> }\``;
  if (index === undefined) return atRoute('self-trigger', message, hint);
  return { rule: 'self-trigger', path: targetPath(index), at: 'value', message, hint };
}
