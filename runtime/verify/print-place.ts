/** Names a place of a request for logs and explanations: where a signature, an event type or an id is. */
import type { LocatorPlan } from '../../schemas/generated/types.ts';

/** A header by its name, a query parameter as `?name`, a part of the body as `body.path`. */
export function printPlace({ in: place, name, path }: LocatorPlan): string {
  switch (place) {
    case 'header':
      return name;
    case 'query':
      return `?${name}`;
    case 'json':
      return ['body', ...path].join('.');
    case 'form':
      return ['body', name, ...path].join('.');
  }
}
