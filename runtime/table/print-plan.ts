/** Templates and filters of a table as text, for people. */
import type { FilterPlan, TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';
import { printField } from './link-filter.ts';

/** A template as it was written. */
export function printTemplate(plan: TemplatePlan): string {
  return plan.map(printSegment).join('');
}

function printSegment(segment: TemplateSegment): string {
  switch (segment.kind) {
    case 'text':
    case 'path':
      return segment.text;
    case 'dump':
      return '{__raw__}';
    case 'events':
      return '{events}';
    case 'meta':
      return `{${segment.name}}`;
    case 'notice':
      return '';
  }
}

/** `action in ["opened"]`, `any of (…, …)`. */
export function printFilter(plan: FilterPlan): string {
  if (plan.kind === 'leaf') return `${printField(plan.field)} ${plan.operator} ${JSON.stringify(plan.value)}`;
  const members = plan.filters.map(printFilter);
  return plan.kind === 'not' ? `not (${members.join(', ')})` : `${plan.kind} of (${members.join(', ')})`;
}
