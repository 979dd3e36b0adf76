/** Prints a profile's closure for people. */
import type { Paint } from '../../base/paint.ts';
import { visible } from '../output/print.ts';
import type { ProfileClosure } from './closure.ts';

const NONE = 'none';

export function formatClosure(closure: ProfileClosure, paint: Paint): string[] {
  const { name, home, agent, toolsets, routes, jobs, targets, credentials, scripts, skills } = closure;
  const fields: readonly (readonly [string, readonly string[]])[] = [
    ['agent', [agent]],
    ['toolsets', toolsets],
    ['routes', routes.map(({ path, mode }) => `${path} (${mode})`)],
    ['jobs', jobs],
    ['targets', targets],
    ['credentials', credentials],
    ['scripts', scripts],
    ['skills', skills],
  ];
  const lines = fields.map(([title, values]) => {
    const text = values.length === 0 ? NONE : values.map(visible).join(', ');
    return `  ${title.padEnd(11)}  ${text}`;
  });
  return [`profile ${paint('bold', name)}${home === '' ? '' : ` in ${home}/`}`, ...lines];
}
