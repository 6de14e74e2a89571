package tools

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/companiond/companiond/host/door/mcp/past"
	"github.com/companiond/companiond/host/history"
)

// The tools of seed D, by which the past of rooms is read, told in fewer words, and forked.

// spanArgs are the two ways to name turns.
func spanArgs() []prop {
	return []prop{
		{"turns?", words("最初と最後のターン。 The first and the last turn, counted from 1, as in 1-50; or one, as in 7.")},
		{"start_turn?", integer("Instead of turns: the first.")},
		{"end_turn?", integer("Instead of turns: the last, which is among them.")},
	}
}

func proposalArg(only string) prop {
	return prop{"proposal?", words("提案のid。 The proposal that create_verified_summary gave. May be left out where " + only + ".")}
}

func pair(about string) *jsonschema.Schema {
	two := 2
	s := list(about, integer(""))
	s.MinItems, s.MaxItems = &two, &two
	return s
}

// ReadSessionTurns reads turns by their numbers.
func ReadSessionTurns() Tool {
	return Tool{
		Name: "read_session_turns", Title: "Read Session Turns",
		About: "会話のターンを番号で読みます。 Reads turns of a room by their numbers, as they are told now: turns that were compressed are one text, from n to upto. It does not change what you have read.",
		In: shape(append(append([]prop{roomArg()}, spanArgs()...),
			prop{"original?", truth("As they were said, whatever they are told as. The newest 50 where no turns are given.")})...),
		Out: shape(
			prop{"turns", list("Oldest first.", shape(
				prop{"n", integer("Its number; of several the first.")}, prop{"upto?", integer("The last, where it stands for several.")},
				prop{"from?", words("Who said it; absent where it stands for several.")}, prop{"text", words("")}, prop{"at?", words("")},
			))},
			prop{"of", integer("How many turns there are in all.")},
		),
	}
}

// finding is the shape of what became of one thing.
func finding() *jsonschema.Schema {
	return shape(
		prop{"id", words("")}, prop{"item", words("")}, prop{"turn?", integer("Where it stands.")},
		prop{"status", choice("", history.Kept, history.Changed, history.Missing, history.NotNeeded, history.Unclear)},
		prop{"quote?", words("Of the draft.")}, prop{"policy?", truth("The policy names it.")},
	)
}

// standing is the shape of how a proposal stands.
func standing() *jsonschema.Schema {
	return shape(
		prop{"proposal", words("Its id.")}, prop{"room", words("")},
		prop{"status", choice("pending_approval: verified, and a person has to approve it. rejected: the verifier says NO.",
			past.Drafting, past.PendingApproval, past.Rejected, past.Failed, past.Approved, past.Denied, past.Reverted)},
		prop{"original_turns_range", pair("The first and the last turn.")},
		prop{"policy?", words("What must stay, and what is noise.")},
		prop{"summary", words("The newest draft; empty where there is none, or it was erased.")},
		prop{"verification?", shape(
			prop{"verdict", choice("", history.Yes, history.No)}, prop{"feedback", words("What has to be mended.")},
			prop{"named", shape(
				prop{"of", integer("How many things the policy names that code finds in the turns: a draft is held to these.")},
				prop{"kept", integer("How many of them are there.")},
				prop{"not_kept", list("The others.", finding())},
			)},
			prop{"findings", list("What the policy names, and what may matter besides and may be left out, and what became of it.", finding())},
			prop{"by", words("The verifier.")},
		)},
		prop{"lost", list("What left with the original and may matter, found without a model.", shape(prop{"kind", words("")}, prop{"item", words("")}, prop{"turn?", integer("")}))},
		prop{"drafts", integer("How many were made.")},
		prop{"approved_by?", words("Who approved it.")},
		prop{"why?", words("Why it failed, was denied or reverted.")},
		prop{"next_action", words("What to do now.")},
	)
}

// CreateVerifiedSummary has turns drafted and verified.
func CreateVerifiedSummary() Tool {
	return Tool{
		Name: "create_verified_summary", Title: "Create Verified Summary", Changes: true,
		About: "指定したターンの要約を作成または検証し、人の承認を待つ提案にします。履歴は変わりません。 Has turns told in fewer words: with summary your draft is verified against the original; without it one is drafted and verified, up to three times. " +
			"What is verified waits for a person to approve it, with replace_session_turns or elsewhere; until then nothing changes. Where it is rejected, mend it by the feedback.",
		In: shape(append(append([]prop{roomArg()}, spanArgs()...),
			prop{"summary?", words("要約の案。 Your draft, to be verified. Absent: one is made.")},
			prop{"policy?", words("要約の方針。 What must stay and what is noise, in the words of the person, at most 4,000 characters.")},
			prop{"target_length?", within("What a draft may come to at most; absent: a tenth of the turns.", 1, past.MostLength)},
			prop{"unit?", choice("Of target_length: characters when absent.", history.Characters, history.Tokens)},
			prop{"compresser?", words("Who drafts: a companion's id, model, or extract, which needs no model.")},
			prop{"verifier?", words("Who verifies: the same.")},
			prop{"proposal?", words("Instead of turns: one that you asked for before, to wait for it, or with summary to have the next draft of it verified.")},
			prop{"timeout_seconds?", amount("How long to wait for the drafts, or for the verdict on yours: 45 when absent, 0 not at all. What takes longer goes on, and status is drafting.", 0, past.MostWait)},
		)...),
		Out: standing(),
	}
}

// ReplaceSessionTurns approves a proposal.
func ReplaceSessionTurns() Tool {
	return Tool{
		Name: "replace_session_turns", Title: "Replace Session Turns", Changes: true,
		About: "人が承認した要約でターンを置き換えます。元の発言は残り、元に戻せます。 Has turns told as their verified summary from now on. That is for a person: it counts with a person's token alone, and where the client can ask, the person is asked first. " +
			"With the token of an agent it is refused, and says where people approve; once one did, it answers so. The original stays.",
		In:  shape(roomArg(), proposalArg("just one waits for approval")),
		Out: standing(),
	}
}

// RevertCompression takes off what was laid over turns.
func RevertCompression() Tool {
	return Tool{
		Name: "revert_compression", Title: "Revert Compression", Changes: true,
		About: "圧縮を取り消し、元のターンに戻します。 Has turns told as they were again, to the byte. For people: it counts with a person's token alone, and where the client can ask, the person is asked first.",
		In:    shape(roomArg(), proposalArg("just one is told so"), prop{"why?", words("The reason, for whoever looks later.")}),
		Out:   standing(),
	}
}

func branch() []prop {
	return []prop{
		{"name", words("The room.")}, {"of?", words("The room that it was forked of.")}, {"at?", integer("The seq of the newest entry that both have.")},
		{"turn?", integer("The newest turn that both have.")}, {"turns", integer("How many it has in all.")}, {"by?", words("Who made it.")}, {"closed?", truth("")},
	}
}

// ForkSession forks a room.
func ForkSession() Tool {
	return Tool{
		Name: "fork_session", Title: "Fork Session", Changes: true,
		About: "過去のターンから新しい部屋に分岐します。元の会話はそのままです。 Makes a room of the past of this one, up to a turn, to try something else from there. This room stays as it is.",
		In: shape(roomArg(), prop{"turn?", integer("どのターンまで。 The newest turn that both are to have, from 1; absent: the newest there is.")},
			prop{"name?", words("The fork's name; absent: one that is free.")}),
		Out: shape(append(branch(), prop{"next_action", words("What to do now.")})...),
	}
}

// ListBranches lists the family of a room.
func ListBranches() Tool {
	return Tool{
		Name: "list_branches", Title: "List Branches",
		About: "部屋の分岐の一覧を返します。 Lists the room that a room was forked of, and all forks of that and theirs.",
		In:    shape(roomArg()),
		Out:   shape(prop{"room", words("")}, prop{"branches", list("Each behind the one that it was forked of.", shape(branch()...))}),
	}
}
