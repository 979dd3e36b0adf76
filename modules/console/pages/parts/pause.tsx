/** Pausing a route or a job: for how long is asked, and shown until it ends. */
import { useEffect, useRef } from 'preact/hooks';
import { Act, Ask, Operator } from './act.tsx';
import { instant } from './format.ts';

const HOUR_S = 3600;
const TIMES = { '1 hour': HOUR_S, '4 hours': 4 * HOUR_S, '1 day': 24 * HOUR_S, 'Until it is resumed': null };

interface Props {
  readonly name: string;
  readonly what: string;
  readonly isPaused: boolean;
  /** @param time for how long; without `seconds` until it is resumed */
  readonly pause: (time: { seconds?: number }) => Promise<{ readonly until: number | null }>;
  readonly resume: () => Promise<unknown>;
  readonly changed: () => void;
}

export function Pause({ name, what, isPaused, pause, resume, changed }: Props) {
  const isPressed = useRef(false);
  const end = async (): Promise<string> => {
    await resume();
    isPressed.current = true;
    changed();
    return `${name} goes on.`;
  };
  const begin = (seconds: number | null) => async (): Promise<string> => {
    const { until } = await pause(seconds === null ? {} : { seconds });
    isPressed.current = true;
    changed();
    return until === null ? `${name} is paused.` : `${name} is paused until ${instant(until)}.`;
  };
  // The button that was pressed has given way to the other one.
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isPressed.current) place.current?.querySelector('button')?.focus();
    isPressed.current = false;
  }, [isPaused]);
  const choices = Object.entries(TIMES).map(([text, seconds]) => [text, begin(seconds)]);
  return (
    <span ref={place}>
      <Operator>
        {isPaused ? (
          <Act act={end} label={`Resume ${name}`}>
            Resume
          </Act>
        ) : (
          <Ask text="Pause" label={`Pause ${name}`} title={`Pause ${name}`} choices={Object.fromEntries(choices)}>
            <p>{what}</p>
          </Ask>
        )}
      </Operator>
    </span>
  );
}
