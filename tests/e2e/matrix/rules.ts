import type { Page } from 'playwright-core';

/** A broken rule of the layout: its name, and the element with the measured values. */
export interface LayoutProblem {
  readonly rule: 'column' | 'contrast' | 'overflow' | 'overlap' | 'target';
  readonly at: string;
}

/**
 * Measures the drawn page against the rules of the layout:
 *
 * - `overflow`: nothing is wider than the window, outside of areas that scroll by themselves;
 * - `overlap`: no two controls cover each other;
 * - `column`: no text is squeezed into a column of a few letters;
 * - `target`: controls are at least 24 px wide and high, or have that much room (WCAG 2.5.8), except links in a sentence;
 * - `contrast`: borders of fields and buttons have a contrast of 3 to 1 with the background (WCAG 1.4.11).
 */
export const findLayoutProblems = (page: Page): Promise<LayoutProblem[]> =>
  // Some loaders of TypeScript call a helper that names functions, which pages do not have.
  page.evaluate<LayoutProblem[]>(`(() => { const __name = (named) => named; return (${measure.toString()})(); })()`);

/**
 * Adds the style sheets of other pages, which stay in a document whose pages were opened one after the other, and returns
 * the elements whose place or colour changes.
 */
export const findLeakedStyles = (page: Page, sheets: readonly string[]): Promise<string[]> =>
  page.evaluate(async (addresses) => {
    const draw = (): readonly (readonly [Element, string])[] =>
      [...document.body.querySelectorAll('*')].map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        const { color, backgroundColor, position } = getComputedStyle(element);
        return [element, [left, top, width, height, color, backgroundColor, position].join(' ')];
      });
    const before = draw();
    const own = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(({ href }) => href);
    const links = addresses
      .filter((address) => !own.includes(new URL(address, location.href).href))
      .map((href) => Object.assign(document.createElement('link'), { rel: 'stylesheet', href }));
    const loaded = links.map((link) => new Promise((done) => link.addEventListener('load', done)));
    document.head.append(...links);
    await Promise.all(loaded);
    const after = new Map(draw());
    for (const link of links) link.remove();
    return before
      .filter(([element, drawn]) => (after.get(element) ?? drawn) !== drawn)
      .map(([element, drawn]) => `${element.tagName} ${element.className}: ${drawn}; then ${after.get(element)}`);
  }, sheets);

/** Runs in the page, so it refers to nothing outside. */
function measure(): LayoutProblem[] {
  const MIN_TARGET = 24;
  const MIN_CONTRAST = 3;
  const MIN_COLUMN = 56;
  const TOLERANCE = 1;
  const problems: LayoutProblem[] = [];
  const report = (rule: LayoutProblem['rule'], element: Element, detail: string): void => {
    const name = element.getAttribute('aria-label') ?? element.textContent.trim().replaceAll(/\s+/g, ' ');
    const kind = element.tagName.toLowerCase() + [...element.classList].map((one) => `.${one}`).join('');
    problems.push({ rule, at: `${kind} “${name.slice(0, 40)}” ${detail}` });
  };
  const isShown = (element: Element): boolean =>
    element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
    element.closest('.aside, .skip, [aria-hidden="true"]') === null &&
    element.getClientRects().length > 0;
  const scrolls = (element: Element): boolean => {
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX)) return true;
    }
    return false;
  };

  const width = document.documentElement.clientWidth;
  const all = [...document.body.querySelectorAll('*')].filter(
    (element) => element.closest('.graphiql-container, .swagger-ui') === null && isShown(element),
  );
  const isPanned = document.documentElement.scrollWidth > width + TOLERANCE;
  for (const element of all) {
    const { left, right } = element.getBoundingClientRect();
    const isOutside = right > width + TOLERANCE || left < -TOLERANCE;
    if (isOutside && !scrolls(element)) report('overflow', element, `from ${Math.round(left)} to ${Math.round(right)}`);
  }
  if (isPanned && !problems.some(({ rule }) => rule === 'overflow')) {
    report('overflow', document.body, `is ${document.documentElement.scrollWidth} wide`);
  }

  const controls = all.filter((element) => element.matches('a[href], button, input, select, textarea, summary'));
  const isLayered = (element: Element): boolean => {
    for (let one: Element | null = element; one; one = one.parentElement) {
      const { position, zIndex } = getComputedStyle(one);
      if (position === 'fixed' || position === 'sticky' || (position === 'absolute' && zIndex !== 'auto')) return true;
    }
    return false;
  };
  /** The boxes of an element, without the parts that a scrolling area cuts off. */
  const toVisibleBoxes = (element: Element) => {
    let boxes = [...element.getClientRects()].map(({ left, right, top, bottom }) => ({ left, right, top, bottom }));
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      if (!/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX)) continue;
      const area = one.getBoundingClientRect();
      boxes = boxes.map((box) => ({
        ...box,
        left: Math.max(box.left, area.left),
        right: Math.min(box.right, area.right),
      }));
    }
    return boxes;
  };
  const flat = controls
    .filter((element) => !isLayered(element))
    .map((element) => ({ element, boxes: toVisibleBoxes(element) }));
  const isInline = (element: Element): boolean => getComputedStyle(element).display === 'inline';
  for (const [index, { element, boxes }] of flat.entries()) {
    for (const { element: other, boxes: others } of flat.slice(index + 1)) {
      if (element.contains(other) || other.contains(element)) continue;
      // The lines of a link are separate boxes, and those of a sentence overlap by the space between them.
      const isText = isInline(element) || isInline(other);
      const shared = Math.max(
        ...boxes.flatMap((line) =>
          others.map((near) => {
            const across = Math.min(line.right, near.right) - Math.max(line.left, near.left);
            const down = Math.min(line.bottom, near.bottom) - Math.max(line.top, near.top);
            return across > 2 && down > (isText ? 10 : 2) ? across * down : 0;
          }),
        ),
      );
      if (shared > 0) report('overlap', element, `and “${other.textContent.trim().slice(0, 30)}”`);
    }
  }

  for (const element of all) {
    const text = [...element.childNodes]
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.textContent ?? '');
    if (text.join('').trim().length < 10) continue;
    const { width: wide, height } = element.getBoundingClientRect();
    const line = Number.parseFloat(getComputedStyle(element).lineHeight) || 18;
    if (!isInline(element) && wide < MIN_COLUMN && height > 3 * line) {
      report('column', element, `is ${Math.round(wide)} × ${Math.round(height)}`);
    }
  }

  /** The area that reacts to a press: the label of a checkbox or radio button counts. */
  const target = (element: Element): DOMRect => {
    const label = element.matches('[type=checkbox], [type=radio]') ? element.closest('label') : null;
    return (label ?? element).getBoundingClientRect();
  };
  const targets = controls.map((element) => ({ element, box: target(element) }));
  for (const { element, box } of targets) {
    if (Math.min(box.width, box.height) >= MIN_TARGET - 0.5 || isInline(element)) continue;
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    const isCrowded = targets.some(({ element: other, box: near }) => {
      if (other === element || other.contains(element) || element.contains(other)) return false;
      const across = Math.max(near.left - x, x - near.right, 0);
      const down = Math.max(near.top - y, y - near.bottom, 0);
      return Math.hypot(across, down) < MIN_TARGET / 2;
    });
    if (isCrowded) report('target', element, `is ${Math.round(box.width)} × ${Math.round(box.height)}`);
  }

  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const toLuminance = (colour: string, below: readonly number[]): readonly number[] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = `rgb(${below.join(' ')})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (channels: readonly number[]): number => {
    const [red = 0, green = 0, blue = 0] = channels.map((value) =>
      value / 255 <= 0.040_45 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: readonly number[], b: readonly number[]): number => {
    const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element: Element | null): readonly number[] => {
    const chain: Element[] = [];
    for (let one = element; one; one = one.parentElement) chain.unshift(one);
    const { colorScheme } = getComputedStyle(document.documentElement);
    const isDark =
      colorScheme === 'dark' || (colorScheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
    const base: readonly number[] = isDark ? [18, 18, 18] : [255, 255, 255];
    return chain.reduce((below, one) => toLuminance(getComputedStyle(one).backgroundColor, below), base);
  };
  const bordered = controls.filter(
    (element) =>
      element.matches(
        'button, select, textarea, summary, a.button, input:not([type=checkbox], [type=radio], [type=range])',
      ) &&
      element.getAttribute('aria-disabled') !== 'true' &&
      !(element as HTMLButtonElement).disabled &&
      Number.parseFloat(getComputedStyle(element).borderTopWidth) > 0,
  );
  for (const element of bordered) {
    const ground = behind(element.parentElement);
    const style = getComputedStyle(element);
    const edge = contrast(toLuminance(style.borderTopColor, ground), ground);
    const fill = contrast(toLuminance(style.backgroundColor, ground), ground);
    // The name of a chip identifies it; its border only decorates.
    if (Math.max(edge, fill) < MIN_CONTRAST && !element.matches('.chip')) {
      report('contrast', element, `has ${Math.max(edge, fill).toFixed(2)}`);
    }
  }
  return problems;
}
