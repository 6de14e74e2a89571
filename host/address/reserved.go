package address

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
)

// nobodys are words that in a room's log speak for the daemon, for those who run
// it, or for everybody, or that say there is nobody. Words that people are called
// by are left out though they are near: Mod, Ali (which looks like all), みな.
var nobodys = []string{
	"companiond", "system", "sysadmin", "daemon", "server", "admin", "administrator", "root", "superuser", "operator",
	"moderator", "everyone", "everybody", "anyone", "anybody", "nobody", "here", "null", "undefined", "none", "unknown",
	"システム", "サーバー", "サーバ", "管理者", "管理人", "運営", "運営者", "オペレーター", "モデレーター", "モデレータ", "アドミン",
	"みんな", "みなさん", "みなさま", "皆", "皆さん", "皆様", "全員", "一同", "誰か", "誰でも",
}

// humans are words for whoever sits before the screen. A door may call a human so
// whose name it does not know; a companion or an agent of that name would have
// others, and their models, take its lines for a person's.
var humans = []string{
	"you", "user", "guest", "human", "person", "people", "viewer", "listener", "audience", "visitor", "me", "myself",
	"あなた", "貴方", "君", "ユーザー", "ユーザ", "ゲスト", "人間", "私", "わたし", "僕", "ぼく", "俺", "おれ", "自分",
	"視聴者", "リスナー", "お客さん", "お客様",
}

// Reserved says why a participant of a kind may not take a name, "" when it may.
// Some words are nobody's name, and those that stand for a human are for humans
// only. A name is compared as readers see it ([Skeleton]), whole, and without the
// '-', '_', '.' and digits at its ends: "system_" and "admin2" are read as "system"
// and "admin", and what begins as a [Forgotten] name may nobody take. A single letter with a number is no word: "i7" may be taken, and so
// may L, though it looks like i to Skeleton.
func Reserved(name string, kind abi.ParticipantKind) (why string) {
	plain := strings.Trim(norm.NFKC.String(shown(name)), "-_.")
	shapes := []string{Skeleton(name), Skeleton(plain)}
	if word := strings.Trim(plain, "-_.0123456789"); utf8.RuneCountInString(word) > 1 {
		shapes = append(shapes, Skeleton(word))
	}
	is := func(word string) bool { return slices.Contains(shapes, word) }
	switch {
	case strings.HasPrefix(shapes[0], forgottenShape), strings.HasPrefix(shapes[1], forgottenShape):
		return fmt.Sprintf("%q reads as the name that stands for whoever was forgotten; take a name of your own, such as %q", name, "mika")
	case slices.ContainsFunc(nobodysShapes, is):
		return fmt.Sprintf("%q reads as the daemon, its keepers, everybody or nobody; take a name of your own, such as %q", name, "mika")
	case kind != abi.KindHuman && (slices.ContainsFunc(humansShapes, is) || Reading(plain) == "i"):
		return fmt.Sprintf("%q stands for a human; take a name that is your own, such as %q", name, "mika-bot")
	}
	return ""
}

// Forgotten begins the names that stand where the name of whoever was forgotten stood.
const Forgotten = "forgotten-"

var forgottenShape = Skeleton(Forgotten)

var nobodysShapes, humansShapes = skeletons(nobodys), skeletons(humans)

func skeletons(words []string) []string {
	var all []string
	for _, w := range words {
		all = append(all, Skeleton(w))
	}
	return all
}
