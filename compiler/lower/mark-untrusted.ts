/** Marks the placeholders of a prompt whose values outsiders control (`untrusted: mark`, decisions §12). */

import type { MetaSegment, PathSegment, TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';
import { isEventGlob } from '../config/event-names.ts';
import type { RouteView } from '../views/views.ts';

/** Returns the prompt unchanged unless the route has `untrusted: mark`. */
export function markUntrusted(route: RouteView, prompt: TemplatePlan): TemplatePlan {
  const marked = markSegments(route, prompt);
  return marked === prompt ? prompt : [{ kind: 'notice' }, ...marked];
}

/** The same without the notice, for a template whose text becomes part of a prompt. */
export function markSegments(route: RouteView, template: TemplatePlan): TemplatePlan {
  const { config, mode, scope } = route;
  const isMarking = (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';
  // Messages that are delivered without an agent are for people and contain no markers.
  if (!isMarking || mode === 'direct' || mode === 'message') return template;
  const marked = template.map((segment) =>
    takesMarkers(segment, route) ? { ...segment, marked: true as const } : segment,
  );
  return marked.every((segment, index) => segment === template[index]) ? template : marked;
}

type Markable = Exclude<TemplateSegment, { kind: 'text' } | { kind: 'notice' }>;

function takesMarkers(segment: TemplateSegment, route: RouteView): segment is Markable {
  switch (segment.kind) {
    case 'text':
    case 'notice':
      return false;
    case 'dump':
    // Its lines have markers.
    case 'events':
      return true;
    case 'meta':
      return isSent(segment.name, route);
    case 'path':
      return isUntrustedPath(segment, route);
  }
}

/** A payload value overrides the built-in one of that name, so either makes the placeholder untrusted. */
function isUntrustedPath({ path, builtin }: PathSegment, route: RouteView): boolean {
  if (path.length === 0) return false;
  if (builtin !== null && isSent(builtin, route)) return true;
  // A value of which nothing is known may be anyone's.
  return route.scope.payloads?.isUntrusted(route, path) ?? true;
}

/**
 * Whether the sender controls a built-in value. The event type may come from an unsigned header, but is one of the names in
 * `events` if these are exact. The delivery id always comes from the sender.
 */
function isSent(name: MetaSegment['name'], { config: { events = [] } }: RouteView): boolean {
  if (name === 'event_type') return events.length === 0 || events.some(isEventGlob);
  return name === 'delivery_id';
}
