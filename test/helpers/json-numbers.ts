/** Random JSON numbers, as texts, for properties. */
import fc from 'fast-check';

const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
const whole = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/));
const fraction = fc.oneof(
  fc.constant(''),
  digits(1, 20).map((text) => `.${text}`),
);
const exponent = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(1, 3))
      .map((all) => all.join('')),
  },
);

/** Any text that JSON allows for a number, whether JavaScript holds it or not. */
export const jsonNumber = fc
  .tuple(fc.constantFrom('', '-'), whole, fraction, exponent)
  .map((parts): string => parts.join(''));
