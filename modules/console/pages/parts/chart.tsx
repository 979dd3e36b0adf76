/** Charts of figures over time, as SVG: bars that add up, and lines. Each says in words what it shows. */
import type { ComponentChildren } from 'preact';
import { instant } from './format.ts';

const WIDTH = 600;
const HEIGHT = 120;

export interface Slot {
  /** Unix ms at which it begins. */
  readonly slot: number;
}

interface Frame {
  readonly from: number;
  readonly to: number;
  readonly slotMs: number;
}

const x = (at: number, { from, to }: Frame): number => ((at - from) / (to - from)) * WIDTH;

/** The drawing is stretched to the width of its place; texts stand beside it, so that they are not. */
function Drawing({
  title,
  frame,
  most,
  children,
}: {
  title: string;
  frame: Frame;
  most: string;
  children: ComponentChildren;
}) {
  return (
    <div>
      <span class="dim small">{most}</span>
      <svg class="chart" role="img" aria-label={title} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
        <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {children}
      </svg>
      <div class="axis-labels dim small">
        <span>{instant(frame.from).slice(0, 16)}</span>
        <span>{instant(frame.to).slice(0, 16)}</span>
      </div>
    </div>
  );
}

export function Bars<Name extends string>({
  slots,
  names,
  frame,
}: {
  slots: readonly (Slot & Readonly<Record<Name, number>>)[];
  names: readonly Name[];
  frame: Frame;
}) {
  const totals = slots.map((slot) => names.reduce((sum, name) => sum + slot[name], 0));
  const most = Math.max(1, ...totals);
  const all = totals.reduce((sum, total) => sum + total, 0);
  const parts = names.map((name) => `${slots.reduce((sum, slot) => sum + slot[name], 0)} ${name}`);
  const width = Math.max(1, x(frame.from + frame.slotMs, frame) - 1);
  return (
    <>
      <Drawing title={`${all} events: ${parts.join(', ')}`} frame={frame} most={String(most)}>
        {slots.map((slot) => {
          let y = HEIGHT;
          return (
            <g key={slot.slot}>
              {names.map((name) => {
                const height = (slot[name] / most) * HEIGHT;
                y -= height;
                return <rect key={name} class={name} x={x(slot.slot, frame)} y={y} width={width} height={height} />;
              })}
            </g>
          );
        })}
      </Drawing>
      <ul class="legend">
        {names.map((name, at) => (
          <li key={name} class={name}>
            {parts[at]}
          </li>
        ))}
      </ul>
    </>
  );
}

export function Lines<Name extends string>({
  slots,
  names,
  frame,
  unit,
  title,
}: {
  slots: readonly (Slot & Readonly<Record<Name, number>>)[];
  names: readonly Name[];
  frame: Frame;
  unit: (value: number) => string;
  title: string;
}) {
  const most = Math.max(1, ...slots.flatMap((slot) => names.map((name) => slot[name])));
  const y = (value: number): number => HEIGHT - (value / most) * HEIGHT;
  return (
    <Drawing title={title} frame={frame} most={unit(most)}>
      {names.map((name, at) => (
        <path
          key={name}
          class={at === 0 ? 'line' : 'line second'}
          d={pathOf(slots.map((slot) => [x(slot.slot, frame), y(slot[name])]))}
        />
      ))}
    </Drawing>
  );
}

/** One point alone is a short line. */
const pathOf = (points: readonly (readonly number[])[]): string =>
  (points.length === 1 ? [...points, [(points[0]?.[0] ?? 0) + 6, points[0]?.[1] ?? 0]] : points)
    .map(([left = 0, top = 0], at) => `${at === 0 ? 'M' : 'L'}${left.toFixed(1)} ${top.toFixed(1)}`)
    .join('');
