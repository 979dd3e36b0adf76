/** Decides which placeholders of an agent's prompt stand between markers (`untrusted: mark`, decisions §12): those that outsiders may fill. */
import type { MetaSegment, PathSegment, TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';
import { isEventGlob } from '../config/event-names.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import type { RouteView } from '../views/route-scope.ts';

/** The prompt as it is, unless the route marks. */
export function markUntrusted(route: RouteView, prompt: TemplatePlan): TemplatePlan {
  const { config, mode, scope } = route;
  const isMarking = (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';
  // What is delivered without an agent is read by people, as it is.
  if (!isMarking || mode === 'direct') return prompt;
  const marked = prompt.map((segment) =>
    takesMarkers(segment, route) ? { ...segment, marked: true as const } : segment,
  );
  return marked.every((segment, index) => segment === prompt[index]) ? prompt : [{ kind: 'notice' }, ...marked];
}

type Markable = Exclude<TemplateSegment, { kind: 'text' } | { kind: 'notice' }>;

function takesMarkers(segment: TemplateSegment, route: RouteView): segment is Markable {
  switch (segment.kind) {
    case 'text':
    case 'notice':
      return false;
    case 'dump':
      return true;
    case 'meta':
      return isSent(segment.name, route);
    case 'path':
      return isUntrustedPath(segment, route);
  }
}

/** The payload's value comes first, so that of a name with a meaning of its own both count. */
function isUntrustedPath({ path, builtin }: PathSegment, route: RouteView): boolean {
  if (path.length === 0) return false;
  if (builtin !== null && isSent(builtin, route)) return true;
  // In a running gateway, which lowers subscriptions, nothing is known of any payload.
  return isUntrusted(route.scope.payloads?.classOf(route, path).class ?? 'unknown');
}

/**
 * An event type comes from a header that need not be signed; where `events` names it exactly, it is one of those. A delivery
 * id is the sender's, or stands in such a header.
 */
function isSent(name: MetaSegment['name'], { config: { events = [] } }: RouteView): boolean {
  if (name === 'event_type') return events.length === 0 || events.some(isEventGlob);
  return name === 'delivery_id';
}
