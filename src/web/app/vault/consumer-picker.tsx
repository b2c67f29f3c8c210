import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { listConsumers } from './objects.js';

interface ConsumerPickerProps {
  readonly chosen: readonly string[];
  readonly onChosen: (names: readonly string[]) => void;
}

/** Selects the consumers of a value. Consumers without a public key are disabled, as nothing can be sealed to them. */
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
                No consumers yet. <a href="/vault/consumers">Add one with its public key</a> first, or encrypt the value
                to your own key.
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
                {public_key === undefined && <span class="quiet">no public key yet</span>}
              </label>
            ))}
          </>
        )}
      </Loaded>
    </fieldset>
  );
}
