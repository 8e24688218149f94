import { MillraceError } from "@millrace/base/errors";
import { commitInDoubt } from "@millrace/db/in-doubt";
import type { CommitStore, CommitTx } from "@millrace/writer/store";
import type { Dice } from "./dice.ts";
import type { FaultCounter } from "./faults.ts";
import type { ModelDatabase } from "./model-database.ts";
import { ModelTx } from "./model-tx.ts";
import type { Script, SimProcess } from "./script.ts";

/** The writer's port onto the model database, with the faults that a real one has. */
export function modelStore(world: {
  database: ModelDatabase;
  script: Script;
  dice: Dice;
  faults: FaultCounter;
  process: SimProcess;
  isFaulty: () => boolean;
}): CommitStore {
  const { database, script, dice, faults, process } = world;
  const happens = (probability: number): boolean => world.isFaulty() && dice.happens(probability);

  /** One round trip; the writer may die or stall in each. */
  const roundTrip = (): Promise<void> =>
    new Promise((resolve) => {
      script.after(dice.between(0, 3), () => script.doIn(process, resolve));
    });

  return {
    transact: async <T>(work: (tx: CommitTx) => Promise<T>): Promise<T> => {
      const transaction = database.begin(process);
      let result: T;
      try {
        await roundTrip();
        result = await work(new ModelTx({ database, transaction, roundTrip }));
        if (happens(0.03)) {
          faults.met("transaction-aborted");
          throw retryable("40001", "could not serialize access");
        }
        await roundTrip();
      } catch (error) {
        database.end(transaction);
        throw error;
      }
      if (!database.isActive(transaction)) throw retryable("57P01", "the server ended the connection");
      if (happens(0.02)) {
        faults.met("commit-failed");
        database.end(transaction);
        throw commitInDoubt();
      }
      database.commit(transaction);
      if (happens(0.03)) {
        faults.met("commit-answer-lost");
        throw commitInDoubt();
      }
      await roundTrip();
      return result;
    },
  };
}

function retryable(code: string, message: string): MillraceError {
  return new MillraceError({ remedy: "retry", code, message });
}
