/** Bars or lines over time, with axes, gridlines and the values at the pointer; and the same figures as a table. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { instant, shortInstant } from './format.ts';
import type { Column } from './ui.tsx';
import { Table } from './ui.tsx';

const HEIGHT = 150;
const DAY_MS = 86_400_000;

/** How the bars of a series are filled, on a tile of 8 × 8, so that they differ without their colours, too; others are solid. */
const PATTERNS: Readonly<Record<string, string>> = {
  ignored: 'M-2 2 2-2M-2 10 10-2M6 10 10 6',
  duplicate: 'M2 1v2M6 5v2',
  rejected: 'M0 2h8M0 6h8',
  failed: 'M2 0v8M6 0v8',
};
const PALE = 0.25;
const DASHES: Readonly<Record<string, number[]>> = { median: [], p95: [6, 3] };

/** How a series is drawn, for a legend. */
export const Swatch = ({ of }: { of: string }) => (
  <svg class={`swatch ${of}`} viewBox="0 0 8 8" aria-hidden="true">
    {DASHES[of] === undefined && <rect width="8" height="8" fill-opacity={PATTERNS[of] === undefined ? 1 : PALE} />}
    <path d={PATTERNS[of] ?? 'M0 4h8'} stroke-dasharray={DASHES[of]?.map((each) => each / 2).join(' ')} />
  </svg>
);

type Item = Readonly<Record<string, number | null>>;

interface Props {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly slot_ms: number;
  readonly title: string;
  /** The heading, if it says more. */
  readonly children?: ComponentChildren;
  /** Shown instead if no figure is above 0. */
  readonly none?: string;
  /** Figures by series, with the `slot` of each. */
  readonly items: readonly { readonly slot: number }[];
  /** Names of the series, which are also the classes of their colours; bars are stacked in this order. */
  readonly series: readonly string[];
  readonly unit?: (value: number) => string;
  /** Lines, with a gap where a figure is unknown. The axis grows by powers of ten, so that one high value does not flatten the others. */
  readonly tens?: boolean;
}

const whole = (value: number): string => value.toLocaleString();

export function Chart({ title, children, none, ...of }: Props) {
  const { from, to, slot_ms, series, unit = whole, tens = false } = of;
  const items = of.items as readonly Item[];
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const slots = Array.from({ length: Math.max(1, Math.round((to - from) / slot_ms)) }, (_, at) => from + at * slot_ms);
  const bySlot = new Map(items.map((item) => [item.slot, item]));
  const values = series.map((name) => slots.map((slot) => bySlot.get(slot)?.[name] ?? (tens ? null : 0)));
  // A stack is drawn from its whole height down, so that each bar covers the rest of the one behind it.
  const stacked = values.map((_, last) =>
    slots.map((_, at) => values.slice(0, last + 1).reduce((sum, line) => sum + (line[at] ?? 0), 0) || null),
  );
  const drawn = tens ? values : stacked.reverse();
  const data = [slots.map((slot) => (slot + slot_ms / 2) / 1000), ...drawn];
  useEffect(() => {
    // The library starts with the first chart, because its start takes as long as a first page.
    const drawing = import('uplot').then(({ default: Plot }) => {
      const { current: target } = place;
      if (target === null) return null;
      const options = optionsOf(Plot, target, tens ? series : [...series].reverse(), { unit, tens, from, to });
      const hooks = { setCursor: [({ cursor }: uPlot) => setAt(cursor.idx ?? -1)] };
      const plot = new Plot({ ...options, hooks }, data as uPlot.AlignedData, target);
      const draw = (): void => plot.setSize({ width: target.clientWidth, height: HEIGHT });
      const sizes = new ResizeObserver(draw);
      sizes.observe(target);
      const theme = matchMedia('(prefers-color-scheme: dark)');
      theme.onchange = draw;
      return () => {
        sizes.disconnect();
        theme.onchange = null;
        plot.destroy();
      };
    });
    return () => void drawing.then((end) => end?.());
  }, [JSON.stringify(data)]);
  const textOf = (of: number | null | undefined): string => (of === null || of === undefined ? '–' : unit(of));
  if (!values.flat().some(Boolean)) return <p class="dim">{none}</p>;
  const timeOf = (slot: number): string => instant(slot).slice(to - from > 2 * DAY_MS ? 5 : 11);
  const shown = series.flatMap((name, line) => (values[line]?.[at] ? `${name} ${textOf(values[line][at])}` : []));
  const columns = series.map((name): Column<Item> => [name, ({ [name]: of }) => textOf(of), 'end']);
  columns.unshift(['Time', ({ slot }) => instant(slot)]);
  return (
    <figure>
      <h3>{children ?? title}</h3>
      <div class="chart" role="img" aria-label={title} ref={place}>
        {[...series, 'dim'].map((name) => (
          <i key={name} class={name} />
        ))}
      </div>
      <p class="dim small at">{slots[at] !== undefined && `${timeOf(slots[at])}: ${shown.join(', ') || 'none'}`}</p>
      <details>
        <summary class="dim small">Show as a table</summary>
        <Table label={title} items={items} keyOf={({ slot }) => slot ?? 0} empty="" columns={columns} />
      </details>
    </figure>
  );
}

const FROM_ZERO: uPlot.Scale.Range = (_plot, _least, most) => {
  const step = 2 * 10 ** Math.floor(Math.log10(most / 2));
  return [0, Math.max(4, Math.ceil(most / step) * step)];
};
const TENS: uPlot.Scale = { distr: 3, range: (_plot, least, most) => [least / 1.5, most * 1.5] };
/** Of the values, in px: the same for all charts, so that their times are below each other. */
const WIDTH = 60;

/** Marks at 1, 2, 5, 10 and so on; only at powers of ten if there are many of them. */
const ROUND: uPlot.Axis = {
  splits: (_plot, _axis, least, most) =>
    [2, 3, 4, 5, 6, 7]
      .flatMap((power) => (most / least > 200 ? [1] : [1, 2, 5]).map((digit) => digit * 10 ** power))
      .filter((mark) => mark >= least && mark <= most),
  filter: (_plot, splits) => splits,
};

type Look = Pick<Props, 'from' | 'to'> & Required<Pick<Props, 'unit' | 'tens'>>;
type Library = typeof uPlot;

function optionsOf(library: Library, target: HTMLElement, series: readonly string[], look: Look): uPlot.Options {
  const { unit, tens, from, to } = look;
  const bars = library.paths.bars?.({ size: [0.8, 100] }) ?? (() => null);
  // Colours come from the style sheet, so that they follow the theme.
  const colour = (name: string) => () => colourIn(target, name);
  const grid = { stroke: () => `color-mix(in srgb, ${colour('dim')()} 22%, transparent)`, width: 1 };
  const axis = { stroke: colour('dim'), grid, ticks: grid, font: '12px Inter, system-ui, sans-serif' };
  const axisOf = (text: (value: number) => string, more: uPlot.Axis): uPlot.Axis => {
    return { ...axis, values: (_plot, splits) => splits.map(text), ...more };
  };
  const timeOf = (seconds: number): string =>
    shortInstant(seconds * 1000).slice(...(to - from > 2 * DAY_MS ? [0, 6] : [7, 12]));
  const seriesOf = (name: string): uPlot.Series => ({
    stroke: colour(name),
    points: { show: tens, size: 4 },
    ...(tens ? { width: 2, dash: DASHES[name] ?? [] } : { paths: bars, fill: () => filled(target, name) }),
  });
  return {
    width: Math.max(100, target.clientWidth),
    height: HEIGHT,
    tzDate: (seconds) => library.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { drag: { x: false, y: false }, y: false, points: { show: tens } },
    legend: { show: false },
    scales: { x: { range: [from / 1000, to / 1000] }, y: tens ? TENS : { range: FROM_ZERO } },
    axes: [axisOf(timeOf, { size: 30 }), axisOf(unit, { space: 24, size: WIDTH, ...(tens ? ROUND : {}) })],
    series: [{}, ...series.map(seriesOf)],
  };
}

const colourIn = (target: HTMLElement, name: string): string =>
  getComputedStyle(target.querySelector(`i.${name}`) ?? target).color;

/** The pattern of a series in its colour. */
function filled(target: HTMLElement, name: string): CanvasPattern | string {
  const [path, colour, back] = [PATTERNS[name], colourIn(target, name), getComputedStyle(target).backgroundColor];
  const tile = new OffscreenCanvas(8 * devicePixelRatio, 8 * devicePixelRatio);
  const canvas = tile.getContext('2d');
  if (path === undefined || canvas === null) return colour;
  canvas.scale(devicePixelRatio, devicePixelRatio);
  canvas.fillStyle = `color-mix(in srgb, ${colour} ${100 * PALE}%, ${back})`;
  canvas.fillRect(0, 0, 8, 8);
  canvas.strokeStyle = colour;
  canvas.lineWidth = 1.5;
  canvas.stroke(new Path2D(path));
  return canvas.createPattern(tile, 'repeat') ?? colour;
}
