import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { listConsumers } from './objects.js';

interface ConsumerPickerProps {
  readonly chosen: readonly string[];
  readonly onChosen: (names: readonly string[]) => void;
}

/** Whom a value is for; one without a key can't be chosen, as nothing can be sealed to it. */
export function ConsumerPicker({ chosen, onChosen }: ConsumerPickerProps) {
  const consumers = useResource(listConsumers);
  return (
    <fieldset>
      <legend>Consumers</legend>
      <Loaded from={consumers}>
        {(list) => (
          <>
            {list.length === 0 && (
              <p>
                There are none. <a href="/vault/consumers">Add one with its key</a> first, or keep a copy for yourself.
              </p>
            )}
            {list.map(({ name, public_key }) => (
              <label key={name} class="choice">
                <input
                  type="checkbox"
                  disabled={public_key === undefined && !chosen.includes(name)}
                  checked={chosen.includes(name)}
                  onChange={({ currentTarget }) =>
                    onChosen(currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
                  }
                />
                {name}
                {public_key === undefined && <span class="quiet">has no key yet</span>}
              </label>
            ))}
          </>
        )}
      </Loaded>
    </fieldset>
  );
}
