/** Lowers the `field` of a filter condition to a plan (§2.2). */
import type { FieldPlan } from '../../schemas/generated/types.ts';

/** Converts a field in template, JSONPath or jq syntax to a dotted path; null if it is none of these. */
export function plainField(field: string): string | null {
  const inner = field.replace(/^\{+\s*|\s*\}+$/g, '').replace(/^\$?\.(?=[^.])/, '');
  const plain = inner.replace(/\[(\d+)\]/g, '.$1').replace(/\[(["'])([\w-]+)\1\]/g, '.$2');
  return inner !== field && typeof lowerField(plain) !== 'string' ? plain : null;
}

/** Returns the field's plan, or an error message. */
export function lowerField(field: string): FieldPlan | string {
  if (field === 'event' || field === 'event_type') return { in: 'event', path: [] };
  // Dots in header names do not separate path segments.
  if (field.startsWith('headers.')) {
    const name = field.slice('headers.'.length).toLowerCase();
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return { in: 'header', path: [name] };
    return `${JSON.stringify(field)} is not a header; write headers.<Name>`;
  }
  if (/^\{.*\}$|^\$\./.test(field))
    return `${JSON.stringify(field)} is not a path; write the keys separated by single dots`;
  const path = field.split('.');
  if (path.includes('')) return `${JSON.stringify(field)} has an empty part; write the keys separated by single dots`;
  return path.length > 1 && path[0] === 'payload' ? { in: 'payload', path: path.slice(1) } : { in: 'root', path };
}
