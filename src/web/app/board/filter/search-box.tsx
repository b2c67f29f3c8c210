import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly field: RefObject<HTMLInputElement | null>;
  /** Texts that replace the search. */
  readonly suggestions: readonly string[];
}

/** The keys that select a suggestion, with their steps. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * A search field with a list of suggestions. Browsers would hide those of a `datalist` that do not contain the typed
 * text, such as `repo:acme/shop` for `repo:shop`. No suggestion is selected before an arrow key is pressed.
 */
export function SearchBox({ label, value, onValue, field, suggestions }: SearchBoxProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [selected, select] = useState(-1);
  const entered = useRef(value);
  const isShown = isOpen && suggestions.length > 0;
  // Low windows do not show the whole list.
  useLayoutEffect(() => document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: 'nearest' }), [selected]);
  const setList = (open: boolean): void => {
    setOpen(open);
    select(-1);
  };
  const change = (text: string, open: boolean): void => {
    entered.current = text;
    onValue(text);
    setList(open);
  };
  // The names of terms are followed by suggestions of their values.
  const accept = (text: string): void => change(text, text.endsWith(':'));
  // Back, Forward and the buttons of the filters change the text too.
  useLayoutEffect(() => {
    if (value !== entered.current) setList(false);
    entered.current = value;
  }, [value]);
  const onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    const chosen = suggestions[selected];
    if (step !== undefined && suggestions.length > 0) {
      setOpen(true);
      select(wrap(selected + step, suggestions.length));
    } else if (event.key === 'Enter' && isShown && chosen !== undefined) accept(chosen);
    // Without a list, Escape clears the field.
    else if (event.key === 'Escape' && isShown) setList(false);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <label class="aside" for={`${id}-field`}>
        {label}
      </label>
      <kbd aria-hidden="true">/</kbd>
      <input
        id={`${id}-field`}
        ref={field}
        type="search"
        // The types require it for this role.
        list={undefined}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={isShown && selected >= 0 ? `${id}-${selected}` : undefined}
        placeholder={label}
        autoComplete="off"
        maxLength={255}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value, true)}
        onKeyDown={onKey}
        onBlur={() => setList(false)}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label="Suggestions"
        hidden={!isShown}
        // The field keeps the focus.
        onPointerDown={(event) => event.preventDefault()}
        onMouseDown={(event) => event.preventDefault()}
      >
        {suggestions.map((text, index) => (
          <li
            key={text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => accept(text)}
          >
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns an index in a list, or -1 between its end and its beginning. */
const wrap = (index: number, length: number): number => (index < -1 ? length - 1 : index === length ? -1 : index);
