import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { listAllConsumers } from './secrets.js';

interface ConsumerPickerProps {
  readonly chosen: readonly string[];
  readonly onChosen: (names: readonly string[]) => void;
}

/** Selects the consumers of a value. Consumers without a public key are disabled, as nothing can be sealed to them. */
export function ConsumerPicker({ chosen, onChosen }: ConsumerPickerProps) {
  const consumers = useResource(listAllConsumers);
  return (
    <fieldset>
      <legend>Consumers</legend>
      <AsyncContent from={consumers}>
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
      </AsyncContent>
    </fieldset>
  );
}
