/** Untrusted text in the prompt of an agent with acting toolsets (§1.5, §5.5). */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { Reported, RouteView } from '../../../../compiler/views/views.ts';
import { describePart, isWholePayload } from '../untrusted/describe-part.ts';
import type { UntrustedPart } from '../untrusted/untrusted-texts.ts';
import { actingToolsets, untrustedParts } from '../untrusted/untrusted-texts.ts';
import { isWalledIn } from '../untrusted/walled-in.ts';

export const untrustedInput = rule('untrusted-input', {
  route(route, report) {
    if (route.config.accept_untrusted !== undefined || isWalledIn(route)) return;
    const acting = actingToolsets(route);
    const parts = acting.length === 0 ? [] : untrustedParts(route);
    // A placeholder that is there twice is one field.
    const [first, ...more] = [...new Map(parts.map((part) => [part.placeholder, part])).values()];
    if (first !== undefined) report(problem(route, first, more, acting));
  },
});

/** Names the whole path: the field and its author, the prompt, the agent with its toolsets, and the target. */
function problem(
  route: RouteView,
  part: UntrustedPart,
  more: readonly UntrustedPart[],
  acting: readonly string[],
): Reported {
  const { placeholder } = part;
  const isJob = route.mode === 'cron';
  const agent = isJob ? `the agent of the job \`${route.config.cron_job}\`` : 'an agent';
  const targets = oneOf(
    route.targets.map(({ name }) => name),
    'and',
  );
  const goes = `go${more.length === 0 ? 'es' : ''} into the prompt of ${agent} with ${oneOf(acting, 'and')}${unknownOf(route, acting)}`;
  const answer = isJob ? '' : `, whose answer goes to ${targets}`;
  const names = more.map((other) => `\`${other.placeholder ?? ''}\``);
  const last = names.length === 0 ? '' : ` and ${names.pop()}`;
  const fields = [describePart(part), ...names].join(', ') + last;
  const message = `${fields} ${goes}${answer}: what a stranger writes there can steer it`;
  const hint = adviceFor(route, part, acting);
  if (placeholder === null) return { path: [], at: 'key', message, hint };
  const related = more.map((other) => ({
    path: ['prompt'],
    within: withinPrompt(other),
    message: `${describePart(other)} as well`,
  }));
  return { path: ['prompt'], at: 'value', within: withinPrompt(part), message, hint, related };
}

const withinPrompt = ({ placeholder, offset }: UntrustedPart) => ({ offset, length: placeholder?.length ?? 0 });

/** Another rule reports that unknown toolsets are dropped. */
function unknownOf({ scope }: RouteView, acting: readonly string[]): string {
  const unknown = acting.filter((name) => !Object.hasOwn(scope.table.toolsets, name));
  if (unknown.length === 0) return '';
  const which = unknown.length === acting.length ? '' : `${oneOf(unknown, 'and')} `;
  return ` (${which}not in the catalog, so currently dropped: treated as acting)`;
}

function adviceFor({ config, scope }: RouteView, part: UntrustedPart, acting: readonly string[]): string {
  const [field] = part.review?.author ?? [];
  const isMarked = (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';
  const ways = [
    ...(isWholePayload(part) ? ['name the fields the agent needs'] : []),
    ...(field === undefined ? [] : [`filter on its author: ${exampleFilter(field)}`]),
    `leave out ${oneOf(acting, 'and')}`,
    `or say why it is safe: \`accept_untrusted: <reason>\`${isMarked ? '' : ', best with `untrusted: mark`'}`,
  ];
  return ways.join('; ');
}

const exampleFilter = (field: string): string =>
  field.endsWith('author_association')
    ? `\`{ field: ${field}, in: [OWNER, MEMBER, COLLABORATOR] }\``
    : `\`{ field: ${field}, in: [<people you trust>] }\``;
